class Broken {
    /** Before the fault. */
    int before(int count) {
        return count + 1;
    }

    int broken(int count {
        return count +;
    }

    /** After it. */
    int after() { return before(2); }
}
