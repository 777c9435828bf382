/// Before the fault.
pub fn before(count: u32) -> u32 {
    count + 1
}

pub fn broken(count: u32 -> u32 {
    count +
}

impl After {
    /// After it.
    pub fn after(&self) -> u32 { before(2) }
}
