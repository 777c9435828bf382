class Broken {
public:
    /// Before the fault.
    int before(int count) { return count + 1; }

    int wrong(int count { return count +; }

    /// After it.
    int after() { return before(2); }
};
