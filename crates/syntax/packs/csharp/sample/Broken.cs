class Broken
{
    /// <summary>Before the fault.</summary>
    int Before(int count) { return count + 1; }

    int Wrong(int count {
        return count +;
    }

    /// <summary>After it.</summary>
    int After() => Before(2);
}
