package queue

// Before stands before the fault.
func Before(n int) int {
	return n + 1
}

func broken(n int {
	return n +
}

// After stands after it.
func (q *Queue[T]) After() int { return Before(2) }
