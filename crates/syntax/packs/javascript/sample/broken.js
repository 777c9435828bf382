/** Before the fault. */
function before(count) {
  return count + 1;
}

class Broken {
  start(count {
    return count +;
  }

  end() {}
}

/** After it. */
const after = () => before(2);
