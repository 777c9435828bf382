//! A small shop: goods, baskets and what they cost. — „Läden“

use std::fmt;
use std::{
    collections::{HashMap, hash_map::{self, Entry}},
    io::{self as input, *},
    sync::Arc as Shared,
};
use crate::money::Cents;

/// The most lines a basket holds.
pub const MOST_LINES: usize = 100;
static NAMES: [&str; 2] = ["Äpfel", "Brot"];

/// Something with a price.
///
/// Prices never change while a basket is open.
pub trait Priced: fmt::Debug + Send {
    /// Where it is counted.
    type Unit;
    const FREE: bool = false;

    /// What one costs.
    fn price(&self) -> Cents;

    fn label(&self) -> String {
        format!("{} ({})", name_of(self.price()), "price")
    }
}

/** One line of a basket. */
#[derive(Debug, Clone)]
// Kept small on purpose.
#[must_use]
pub struct Line<T> {
    /// What is bought.
    pub item: T,
    count: u32,
}

pub struct Unit;
struct Pair(u8, u8);

#[repr(u8)]
pub enum State {
    /// Nothing is in it.
    Empty,
    #[allow(dead_code)]
    Filled { lines: usize },
    Paid(Cents) = 3,
}

pub union Bits {
    whole: u32,
    parts: [u8; 4],
}

pub type Lines<T> = Vec<Line<T>>;

impl<T: Priced> Line<T> {
    /// The price of all of it.
    pub fn total(&self) -> Cents {
        let price = self.item.price();
        let twice = |price: Cents| price + price;
        debug_assert!(price.is_positive(), "price {price}");
        match self.count {
            2 => twice(price),
            count if count > 9 => Cents::from(count) * price,
            count => price.times::<u64>(count.into()),
        }
    }

    #[inline]
    #[cfg(feature = "later")]
    pub(crate) async fn reserve(&mut self, shop: &str) -> Result<(), Error> {
        fn checked(count: u32) -> u32 {
            count.max(1)
        }
        self.count = checked(self.count);
        shop::client::reserve(shop, self.count).await
    }
}

impl<T> fmt::Display for Line<T>
where
    T: Priced,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} × {}", self.count, self.item.label())
    }
}

/// Makes a basket from pairs.
#[macro_export]
macro_rules! basket {
    ($($name:ident: $count:expr),*) => { vec![$(line(stringify!($name), $count)),*] };
}

extern "C" {
    fn till_open(number: i32) -> i32;
}

fn name_of(price: Cents) -> &'static str { if price.is_positive() { NAMES[0] } else { NAMES[1] } }

mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_total() {
        assert_eq!(line("Brot", 2).total(), Cents::from(2));
    }
}
