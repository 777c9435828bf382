package org.example.rail;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.max;
import static org.example.rail.Signals.*;

/**
 * A station. — „Bahnhof“
 */
@Named("station")
@Deprecated
public sealed class Station<T extends Train> extends Place implements Comparable<Station<T>>, Named permits Halt {
    /** The most tracks of one. */
    public static final int MOST_TRACKS = 24;
    private int width, height = 3;
    @Inject
    protected List<T> trains;
    final Runnable bell = new Runnable() {
        @Override public void run() { ring("ж"); }
    };

    // Opened elsewhere.
    public Station(String name) {
        this(name, 1);
    }

    @SuppressWarnings({"unchecked", "async"})
    private Station(String name, int tracks) {
        super(name);
        this.width = max(tracks, 1);
    }

    /**
     * Takes a train in.
     *
     * @param train the train
     */
    @Override
    public synchronized <R> R arrive(T train, Function<T, R> then) throws NoTrackException {
        for (T other : trains) {
            if (other instanceof Express express && express.isLate()) {
                Signals.lamp(express).stop("arrive " + name);
            }
        }
        try (var lock = Lock.of(this)) {
            trains.forEach(each -> each.arrive(train));
            trains.forEach(Train::ring);
        } catch (IllegalStateException | Error problem) {
            throw new NoTrackException(problem);
        }
        return then.apply(train);
    }

    abstract int length();

    /** How full it is. */
    public enum Load implements Named {
        /** Nobody. */
        EMPTY,
        @Deprecated FULL(3) {
            @Override int people() { return 300; }
        };

        int people() { return 0; }
    }

    record Ticket(String from, int price) implements Named {
        static int sold;

        Ticket {
            price = max(price, 0);
        }

        String text() {
            return """
                from "arrive"
                """;
        }
    }

    interface Named extends Cloneable, java.io.Serializable {
        int LIMIT = 3;
        String name();
        default String label() { return name(); }
    }

    @interface Inject {
        String value() default "";
    }
}
