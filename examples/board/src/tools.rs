//! The tools of an agent on the board. No tool takes the id of a ticket: each works on the ticket of its run only.

mod acceptance_check;
mod board_read;
mod comment_list;
mod comment_post;
mod comment_resolve;
mod current;
mod git_read;
mod git_write;
mod project_info;
mod shown;
mod ticket_read;
mod ticket_update_state;

use toolwright::Handle;

pub use self::acceptance_check::{ACCEPTANCE_CHECK, acceptance_check};
pub use self::board_read::{BOARD_READ, board_read};
pub use self::comment_list::{COMMENT_LIST, comment_list};
pub use self::comment_post::{COMMENT_POST, PostedKind, comment_post};
pub use self::comment_resolve::{COMMENT_RESOLVE, comment_resolve};
pub use self::current::{CurrentTicket, OnTicket};
pub use self::git_read::{GIT_READ, git_read};
pub use self::git_write::{GIT_WRITE, git_write};
pub use self::project_info::{PROJECT_INFO, project_info};
pub use self::ticket_read::{TICKET_READ, shown as shown_ticket, ticket_read};
pub use self::ticket_update_state::{NextState, TICKET_UPDATE_STATE, ticket_update_state};

/// The tools that read and move the run's ticket.
pub const TICKET: [Handle; 3] = [TICKET_READ, TICKET_UPDATE_STATE, ACCEPTANCE_CHECK];

/// The tools for the ticket's comments.
pub const COMMENT: [Handle; 3] = [COMMENT_POST, COMMENT_LIST, COMMENT_RESOLVE];

/// The tools that show the project and the other tickets.
pub const BOARD: [Handle; 2] = [PROJECT_INFO, BOARD_READ];

/// The tools that read and write the project's repository.
pub const GIT: [Handle; 2] = [GIT_READ, GIT_WRITE];
