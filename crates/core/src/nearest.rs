//! The known name that an unknown one was probably meant to be.

/// The nearest known name, if one is near enough; letter case makes no difference. A name that shares
/// no letter is not near, however short both are.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|near| (strsim::damerau_levenshtein(&name.to_lowercase(), &near.to_lowercase()), near))
        .filter(|(distance, near)| {
            let longer = near.len().max(name.len());
            *distance <= (longer / 3).max(1) && *distance < longer
        })
        .min()
        .map(|(_, near)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_shares_nothing_is_not_the_one_that_was_meant() {
        assert_eq!(nearest("s", ["d"]), None);
        assert_eq!(nearest("", ["d"]), None);
        assert_eq!(nearest("ab", ["ac", "xy"]), Some("ac"));
        assert_eq!(nearest("readme.md", ["README.md", "src"]), Some("README.md"));
    }
}
