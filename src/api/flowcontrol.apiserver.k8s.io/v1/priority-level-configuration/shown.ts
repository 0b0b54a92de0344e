/** Formats a spec as in upstream's messages: with Go field names, in their order, and null for absent values. */
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfigurationSpec,
} from "../../../generated/flowcontrol.apiserver.k8s.io/v1.ts";

export function shownSpec({ type, limited, exempt }: PriorityLevelConfigurationSpec): object {
  return {
    Type: type,
    Limited: limited === undefined ? null : shownLimited(limited),
    Exempt: exempt === undefined ? null : shownExempt(exempt),
  };
}

function shownLimited(limited: LimitedPriorityLevelConfiguration): object {
  return {
    NominalConcurrencyShares: limited.nominalConcurrencyShares ?? 0,
    LimitResponse: shownResponse(limited.limitResponse ?? { type: "" }),
    LendablePercent: limited.lendablePercent ?? null,
    BorrowingLimitPercent: limited.borrowingLimitPercent ?? null,
  };
}

function shownResponse({ type, queuing }: LimitResponse): object {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing ?? {};
  return { Type: type, Queuing: queuing === undefined ? null : { Queues: queues, HandSize: handSize, QueueLengthLimit: queueLengthLimit } };
}

function shownExempt({ nominalConcurrencyShares, lendablePercent }: ExemptPriorityLevelConfiguration): object {
  return { NominalConcurrencyShares: nominalConcurrencyShares ?? null, LendablePercent: lendablePercent ?? null };
}
