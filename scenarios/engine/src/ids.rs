//! What the parts of a system are numbered by: a type for each kind.

use raidlab_kernel::ids;

pub use raidlab_io::{ArrayId, DriveId};

ids! {
    /// A controller.
    ControllerId;
    /// A link between drives, controllers and the host.
    LinkId;
    /// A job on a stripe.
    JobId;
}
