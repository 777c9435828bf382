def before(count):
    """Before the fault."""
    return count + 1


def broken(count:
    return count +


class After:
    """After it."""

    def after(self):
        return before(2)
