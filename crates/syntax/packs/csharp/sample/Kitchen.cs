using System;
using System.Collections.Generic;
using static System.Math;
using Pots = System.Collections.Generic.List<Kitchen.Pot>;
extern alias Old;

namespace Example.Kitchen
{
    /// <summary>Called when a dish is ready. — „fertig“</summary>
    public delegate void Ready<T>(T dish, int minutes);

    [Flags]
    public enum Heat : byte
    {
        /// <summary>Not on.</summary>
        None = 0,
        [Obsolete] Low,
        High = 4,
    }

    /// <summary>
    /// Something that cooks.
    /// </summary>
    public interface ICook<in T> : IDisposable, ICloneable
    {
        string Name { get; }
        void Cook(T dish);
        int Count() => 1;
    }

    public record Dish(string Name, decimal Price) : Food(Name), IPriced;
    public record struct Spoon(int Size);

    [Serializable, Owner("kitchen")]
    // One per house.
    [Sealed]
    public sealed partial class Stove<T> : Device, ICook<T> where T : Dish, new()
    {
        public const int MostPots = 4;
        private int used, free = 4;
        private readonly Dictionary<string, Pots> pots = new();
        public event EventHandler? Lit;
        public event Ready<T> Done { add { used++; } remove { used--; } }

        /// <summary>How hot it is.</summary>
        public Heat Heat { get; private set; } = Heat.None;
        public bool Hot => Heat > Heat.Low;
        public Pots this[string name] { get => pots[name]; }

        public Stove(string name) : base(name)
        {
            Heat = Heat.None;
        }

        ~Stove() => Dispose();

        /// <summary>Cooks a dish.</summary>
        [Logged]
        public async Task<int> Cook(T dish, params string[] spices)
        {
            int Minutes(int size) => Max(size, 1);
            foreach (var spice in spices)
            {
                if (dish is { Price: var price } cheap && pots.TryGetValue(spice, out var found))
                    Console.WriteLine($"Cook {dish.Name} with {Minutes(found.Count)} × {"ж"}");
            }
            try { await Task.Delay(Minutes(3)); }
            catch (TimeoutException problem) { Lit?.Invoke(this, new EventArgs()); }
            var order = from pot in pots where pot.Key != null select Make<Dish>(pot);
            return @"C:\Cook".Length;
        }

        void IDisposable.Dispose() { }
        public static Stove<T> operator +(Stove<T> left, int pots) => left;
        public static implicit operator string(Stove<T> stove) => stove.ToString();
        partial void OnLit();

        private struct Pot : IEquatable<Pot>
        {
            public double Volume;
        }
    }
}
