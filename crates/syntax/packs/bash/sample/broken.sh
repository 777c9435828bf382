# Before the fault.
before() {
  echo before
}

wrong() {
  if true; then
    echo )
}

# After it.
after() {
  before 2
}
