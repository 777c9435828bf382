//! What both sides of MCP share: messages read without copying them, the two eras, and pipes
//! that the runtime watches itself.

pub(crate) mod backlog;
pub(crate) mod era;
pub(crate) mod events;
pub(crate) mod frame;
pub(crate) mod lines;
pub(crate) mod loss;
pub(crate) mod object;
pub(crate) mod origin;
pub(crate) mod pages;
pub(crate) mod pipe;
pub(crate) mod rpc;
pub(crate) mod tool_result;

pub use self::origin::is_local;
pub(crate) use self::{
    era::{Era, LATEST_LEGACY, LEGACY, MODERN, OWN_META, SUBSCRIPTION, own_info, server_meta},
    events::{Events, StreamItem},
    lines::{Line, Lines, on_one_line},
    loss::Loss,
    object::{Members, Object, quoted, raw},
    origin::same_origin,
    pages::Pages,
    rpc::{MAX_MESSAGE, Message, Opened, Params, Request, code, error_object, error_parts},
};
