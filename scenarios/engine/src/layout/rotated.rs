//! Of levels 5, 6, 50 and 60: on which drive of a span each unit of a stripe lies.
//!
//! On nested levels (50, 60) stripes alternate between the spans. Stripe `s` of a span of `n` drives
//! has its first parity on drive `n - 1 - s mod n` (left) or `s mod n` (right). Symmetric layouts
//! begin the data behind the parity and wrap around; asymmetric ones begin at the first drive and
//! step over the parity.

use crate::ids::{MemberId, RowId, StripeId};
use crate::layout::stripe::Role;
use crate::plan::Rotation;
use raidlab_kernel::Divider;

/// Spans whose parity rotates.
#[derive(Clone, Debug)]
pub(crate) struct Rotated {
    rotation: Rotation,
    parities: u32,
    spans: Divider,
    /// Drives of a span.
    span: Divider,
}

impl Rotated {
    /// Spans of `span` drives each.
    pub(super) fn new(rotation: Rotation, parities: u32, spans: u32, span: u32) -> Rotated {
        Rotated {
            rotation,
            parities,
            spans: Divider::new(spans),
            span: Divider::new(span),
        }
    }

    /// Number of spans.
    #[inline]
    pub(super) fn spans(&self) -> u32 {
        self.spans.get()
    }

    /// The member that has a unit of a stripe, and the row there.
    #[inline]
    pub(super) fn place(&self, stripe: StripeId, role: Role) -> (MemberId, RowId) {
        let (row, span) = self.span_of(stripe);
        let member = match role {
            Role::Parity(which) => self.around(self.first_parity(row) + which.number()),
            Role::Data(column) | Role::Copy(column, _) => self.data(row, column.number()),
        };
        (MemberId::new(span * self.span.get() + member), row)
    }

    /// The stripe whose units lie at `row` of the drives of a member's span.
    pub(super) fn stripe_at(&self, member: MemberId, row: RowId) -> StripeId {
        let span = self.span.quotient(member.number());
        StripeId::new(row.number() * u64::from(self.spans()) + u64::from(span))
    }

    /// The row of a stripe in its span, and the span.
    #[inline]
    fn span_of(&self, stripe: StripeId) -> (RowId, u32) {
        let (row, span) = match self.spans() {
            1 => (stripe.number(), 0),
            _ => self.spans.split_long(stripe.number()),
        };
        (RowId::new(row), span)
    }

    /// The drive of a span that lies `steps` from its first, at most once around.
    #[inline]
    fn around(&self, steps: u32) -> u32 {
        let span = self.span.get();
        if steps < span { steps } else { steps - span }
    }

    /// The drive of the span that holds a row's first parity.
    #[inline]
    fn first_parity(&self, row: RowId) -> u32 {
        let (_, behind) = self.span.split_long(row.number());
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::LeftAsymmetric => self.span.get() - 1 - behind,
            Rotation::RightSymmetric | Rotation::RightAsymmetric => behind,
        }
    }

    /// The drive of the span that holds a column of data.
    #[inline]
    fn data(&self, row: RowId, column: u32) -> u32 {
        let first = self.first_parity(row);
        match self.rotation {
            Rotation::LeftSymmetric | Rotation::RightSymmetric => {
                self.around(first + self.parities + column)
            }
            Rotation::LeftAsymmetric | Rotation::RightAsymmetric => {
                // Parity units that have wrapped around to the front come before all data.
                let wrapped = (first + self.parities).saturating_sub(self.span.get());
                let steps_over = if wrapped > 0 {
                    wrapped
                } else if column >= first {
                    self.parities
                } else {
                    0
                };
                column + steps_over
            }
        }
    }
}
