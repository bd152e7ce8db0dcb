//! One attempt to carry out actions, and DynamoDB's answer to it.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::error::ConditionalCheckFailedException;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, ConsumedCapacity, Delete, Put, ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure as OnFailure, TransactWriteItem, Update,
};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;
use uuid::Uuid;

use crate::access::{Access, AccessPattern};
use crate::action::{Action, Request, Write};
use crate::error::{Error, speaks_of_size};
use crate::item::Item;
use crate::rev::Rev;

/// One request. The SDK may send it several times, always with the same revision, time and token.
pub(crate) struct Attempt {
    pub rev: Rev,
    pub seconds: i64,
    token: String,
    sendings: Sendings,
}

/// Why an attempt failed.
pub(crate) enum Refusal {
    /// These conditions failed, with the items that DynamoDB found.
    Conditions(Vec<(usize, Option<Item>)>),
    /// DynamoDB refused the request for now. An earlier sending of it may have been carried out.
    Busy(Error),
    /// An earlier sending of the same transaction is still in progress.
    InProgress,
    Final(Error),
}

/// Sets what the SDK's seven builders of a conditional write have in common. They share no trait.
macro_rules! conditional {
    ($builder:expr, $request:ident) => {
        $builder
            .table_name($request.table)
            .condition_expression($request.condition)
            .set_expression_attribute_names($request.names)
            .set_expression_attribute_values($request.values)
            .return_values_on_condition_check_failure(OnFailure::AllOld)
    };
}

/// Sends a single write.
macro_rules! send {
    ($builder:expr, $sendings:expr) => {
        $builder
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor($sendings.clone())
            .send()
            .await
            .map(|output| output.consumed_capacity)
            .map_err(Refusal::of_single)
    };
}

type Answer = Result<Vec<ConsumedCapacity>, Refusal>;

impl Attempt {
    pub fn new(seen: Option<Rev>, micros: i64) -> Self {
        let rev = Rev::next(seen, micros);
        let (seconds, token) = (micros.div_euclid(1_000_000), Uuid::now_v7().to_string());
        Self { rev, seconds, token, sendings: Sendings::default() }
    }

    /// Whether a sending was not answered, so that it may have been carried out.
    pub fn may_be_done(&self) -> bool {
        self.sendings.one_was_lost()
    }

    pub async fn send(
        &self,
        access: &Access,
        pattern: &'static AccessPattern,
        actions: &[Action],
    ) -> Result<(), Refusal> {
        let answer = match actions {
            [action] if !matches!(action.write, Write::Check) => self.send_single(access, action).await,
            _ => self.send_transaction(access, actions).await,
        };
        let consumed = answer.as_deref().unwrap_or_default();
        record(access, pattern, actions, consumed);
        answer.map(|_| ())
    }

    async fn send_single(&self, access: &Access, action: &Action) -> Answer {
        let request = self.request(access, action, false);
        let (client, sendings) = (access.engines().dynamodb(), &self.sendings);
        let consumed = match &action.write {
            Write::Create(_) | Write::CreateSequence(_) => {
                let item = Some(request.item);
                send!(conditional!(client.put_item().set_item(item), request), sendings)
            }
            Write::Update(_) | Write::RaiseSequence(..) | Write::SetSequence(..) => {
                let key = Some(request.item);
                let update = client.update_item().set_key(key).update_expression(request.update);
                send!(conditional!(update, request), sendings)
            }
            Write::Delete | Write::Check => {
                let key = Some(request.item);
                send!(conditional!(client.delete_item().set_key(key), request), sendings)
            }
        };
        match consumed {
            // The write was carried out and its answer lost. The condition fails on what this very attempt wrote.
            Err(Refusal::Conditions(found))
                if self.may_be_done() && found.iter().all(|(_, item)| action.already_done(item.as_ref(), self.rev)) =>
            {
                Ok(Vec::new())
            }
            // Others have changed the item since. Sent again, the write might undo their changes.
            Err(Refusal::Conditions(found))
                if self.may_be_done()
                    && found.iter().any(|(_, item)| action.may_lie_beneath(item.as_ref(), self.rev)) =>
            {
                Err(Refusal::Final(unknown()))
            }
            consumed => Ok(consumed?.into_iter().collect()),
        }
    }

    /// Sends a transaction. By its token DynamoDB recognises one that it has already carried out.
    async fn send_transaction(&self, access: &Access, actions: &[Action]) -> Answer {
        let items: Result<Vec<_>, Error> = actions.iter().map(|action| self.transact_item(access, action)).collect();
        access
            .engines()
            .dynamodb()
            .transact_write_items()
            .set_transact_items(Some(items.map_err(Refusal::Final)?))
            .client_request_token(&self.token)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .customize()
            .interceptor(self.sendings.clone())
            .send()
            .await
            .map(|output| output.consumed_capacity.unwrap_or_default())
            .map_err(Refusal::of_transaction)
    }

    fn transact_item(&self, access: &Access, action: &Action) -> Result<TransactWriteItem, Error> {
        let request = self.request(access, action, true);
        let (item, part) = (Some(request.item), TransactWriteItem::builder());
        let built = match &action.write {
            Write::Create(_) | Write::CreateSequence(_) => {
                conditional!(Put::builder().set_item(item), request).build().map(|put| part.put(put))
            }
            Write::Update(_) | Write::RaiseSequence(..) | Write::SetSequence(..) => {
                let update = Update::builder().set_key(item).update_expression(request.update);
                conditional!(update, request).build().map(|update| part.update(update))
            }
            Write::Delete => {
                conditional!(Delete::builder().set_key(item), request).build().map(|delete| part.delete(delete))
            }
            Write::Check => {
                let check = ConditionCheck::builder().set_key(item);
                conditional!(check, request).build().map(|check| part.condition_check(check))
            }
        };
        match built {
            Ok(part) => Ok(part.build()),
            Err(error) => Err(Error::Engine { engine: "DynamoDB", source: Box::new(error) }),
        }
    }

    fn request(&self, access: &Access, action: &Action, once: bool) -> Request {
        action.request(&access.engines().config, self.rev, self.seconds, once)
    }
}

impl Refusal {
    fn of_single<E, R>(error: SdkError<E, R>) -> Self
    where
        E: ProvideErrorMetadata + StdError + Send + Sync + 'static,
        R: fmt::Debug + Send + Sync + 'static,
    {
        let source = error.as_service_error().and_then(StdError::source);
        if let Some(failed) = source.and_then(|source| source.downcast_ref::<ConditionalCheckFailedException>()) {
            return Self::Conditions(vec![(0, failed.item.clone())]);
        }
        if error.code() == Some("TransactionConflictException") {
            return Self::Busy(Error::Conflict);
        }
        match Error::of_dynamodb(error) {
            Error::Throttled => Self::Busy(Error::Throttled),
            error => Self::Final(error),
        }
    }

    fn of_transaction<R>(error: SdkError<TransactWriteItemsError, R>) -> Self
    where
        R: fmt::Debug + Send + Sync + 'static,
    {
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
                Self::of_reasons(cancelled.cancellation_reasons())
                    .unwrap_or_else(|| Self::Final(Error::of_dynamodb(error)))
            }
            Some(TransactWriteItemsError::TransactionInProgressException(_)) => Self::InProgress,
            _ => match Error::of_dynamodb(error) {
                Error::Throttled => Self::Busy(Error::Throttled),
                error => Self::Final(error),
            },
        }
    }

    /// Reads the reasons of a cancelled transaction. A failed condition outweighs a conflict, which may be over sooner.
    fn of_reasons(reasons: &[CancellationReason]) -> Option<Self> {
        let failed = |(index, reason): (usize, &CancellationReason)| {
            (reason.code() == Some("ConditionalCheckFailed")).then(|| (index, reason.item.clone()))
        };
        let conditions: Vec<_> = reasons.iter().enumerate().filter_map(failed).collect();
        if !conditions.is_empty() {
            return Some(Self::Conditions(conditions));
        }
        reasons.iter().find_map(|reason| match reason.code()? {
            "TransactionConflict" => Some(Self::Busy(Error::Conflict)),
            "ThrottlingError" | "ProvisionedThroughputExceeded" => Some(Self::Busy(Error::Throttled)),
            "ValidationError" if reason.message().is_some_and(speaks_of_size) => Some(Self::Final(Error::TooLarge)),
            _ => None,
        })
    }
}

/// Records each action. DynamoDB reports capacity by table, so the first action of a table has all of it.
fn record(access: &Access, pattern: &'static AccessPattern, actions: &[Action], consumed: &[ConsumedCapacity]) {
    let mut left: Vec<_> = consumed.iter().collect();
    for action in actions {
        let table = access.engines().config.table(action.table.name);
        let place = left.iter().position(|consumed| consumed.table_name() == Some(table.as_str()));
        let units = place.and_then(|place| left.swap_remove(place).capacity_units());
        access.record(pattern, action.call(), (0.0, units.unwrap_or_default()));
    }
}

/// Returns the error of a write that may or may not have been carried out.
pub(crate) fn unknown() -> Error {
    let message = "the answer to a write was lost, and it is unknown whether the write was carried out";
    Error::Engine { engine: "DynamoDB", source: message.into() }
}

/// Counts how often a request is sent, and how many of these sendings have a conclusive answer.
#[derive(Clone, Debug, Default)]
struct Sendings {
    sent: Arc<AtomicU32>,
    answered: Arc<AtomicU32>,
}

impl Sendings {
    fn one_was_lost(&self) -> bool {
        self.sent.load(Ordering::SeqCst) > self.answered.load(Ordering::SeqCst)
    }
}

impl Intercept for Sendings {
    fn name(&self) -> &'static str {
        "Sendings"
    }

    fn read_before_attempt(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.sent.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // A 5xx or a truncated answer is not conclusive: the request may have been carried out.
        let refused = context.response().is_some_and(|response| (400..500).contains(&response.status().as_u16()));
        if refused || matches!(context.output_or_error(), Some(Ok(_))) {
            self.answered.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}
