namespace Example.Pantry;

/// <summary>Keeps food.</summary>
public class Pantry
{
    public int Count() => 3;
}

public static class Shelves
{
    public static int Count(this Pantry pantry) => pantry.Count();
}
