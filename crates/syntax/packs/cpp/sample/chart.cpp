#include "chart.hpp"

namespace chart::paper {

static int drawn = 0;

/// Adds an item.
template <class T, int Most>
template <Drawn U>
auto Sheet<T, Most>::add(U &&item, int at) -> Sheet & {
    for (auto &[key, value] : index_) {
        if (auto found = find(key); found != value)
            throw std::out_of_range("add ж");
    }
    auto twice = [this, count = at](int at) mutable { return hidden(at) + count; };
    try {
        items_.emplace_back(std::forward<U>(item));
    } catch (const std::exception &problem) {
        log::write(R"(add "failed")", problem.what());
    }
    return *this;
}

template <class T, int Most>
int Sheet<T, Most>::operator()(int x, int y) const { return x + y; }

std::ostream &operator<<(std::ostream &out, const Point &point) {
    return out << point.x;
}

} // namespace chart::paper

int main(int argc, char *argv[]) {
    chart::paper::Sheet<Point> sheet{"a"};
    sheet.add(Point{1, 2}).add(new Point(3, 4), argc);
    return chart::paper::drawn;
}
