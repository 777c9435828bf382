// Package queue keeps jobs in order. — „Aufträge“
package queue

import "fmt"

import (
	"context"
	. "math"
	_ "net/http/pprof"
	clock "time"

	"host.org/log/v2"
)

// MostJobs is how many jobs wait at most.
const MostJobs = 100

const (
	// Waiting jobs were not begun.
	Waiting State = iota
	Running
	Done, Failed = 7, 8
)

var (
	empty  = Job{}
	jobsMu sync.Mutex // guards nothing
)

var first, second = 1, 2

// State is how far a job is.
type State int

type Names = map[string]string

type (
	// Job is one piece of work.
	Job struct {
		ID   int `json:"id"` // its number
		Name string
		context.Context
		x, y float64
	}

	Number interface {
		~int | ~float64
	}
)

// Runner runs jobs.
type Runner interface {
	fmt.Stringer
	// Run does one.
	Run(ctx context.Context, job *Job) error
	Stop()
}

// Queue holds jobs of one kind.
type Queue[T Number] struct {
	jobs []Job
	less func(a, b Job) bool
}

// New makes a queue.
func New[T Number](jobs ...Job) *Queue[T] {
	return &Queue[T]{jobs: jobs}
}

// Push adds a job at the end.
//
// The name may be empty.
func (q *Queue[T]) Push(name string, job Job) (count int, err error) {
	if len(q.jobs) >= MostJobs {
		return 0, fmt.Errorf("queue of %q is full: %d", name, MostJobs)
	}
	for i, job := range q.jobs {
		if job.Name == name {
			return i, nil
		}
	}
	done := func(job Job) { log.Print("pushed", job.String()) }
	defer done(job)
	q.jobs = append(q.jobs, job)
	return len(q.jobs), nil
}

func (j Job) String() string { return `job "ж" ` + j.Name }

func (*Job) Reset() {}

func (s State) Later(n int) (State, error) {
	switch t := any(s).(type) {
	case State:
		job := New[int](empty)
		job.Push("later", Job{Name: "später"})
		return t, nil
	}
	return s, nil
}

func assembled(a int) int
