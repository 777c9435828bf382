#pragma once

#include <memory>
#include <vector>
#include "point.hpp"

/// Charts and what is on them. — „Karte“
namespace chart::paper {

using std::vector;
namespace fs = std::filesystem;
using Points = std::vector<Point>;

template <typename T>
concept Drawn = requires(T item) { item.draw(); };

enum class Ink : unsigned char { Black, Blue = 3 };

/// A sheet.
template <class T, int Most = 8>
class [[nodiscard]] Sheet final : public Base<T>, private virtual Named {
public:
    /// The most items.
    static constexpr int most = Most;

    explicit Sheet(std::string name) noexcept : Base<T>(name), name_{std::move(name)} {}
    Sheet(const Sheet &) = delete;
    virtual ~Sheet() = default;

    template <Drawn U>
    auto add(U &&item, int at = 0) -> Sheet &;
    bool operator==(const Sheet &other) const = default;
    explicit operator bool() const { return !items_.empty(); }
    int operator()(int x, int y) const;

    struct Mark {
        int x{}, y{};
        friend bool near(const Mark &a, const Mark &b);
    };

protected:
    std::vector<T> items_;

private:
    std::string name_;
};

namespace {
int hidden(int count) { return count; }
}

} // namespace chart::paper
