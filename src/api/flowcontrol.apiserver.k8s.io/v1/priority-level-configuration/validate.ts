/** Validation of a PriorityLevelConfiguration, with upstream's messages (which sometimes say "Limited" where they mean "Queue"). */
import { deepEqual } from "../../../../base/deep.ts";
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from "../../../generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { withMembersOf } from "../../../changes.ts";
import { mandatoryPriorityLevelSpec } from "../built-in.ts";
import { shownSpec } from "./shown.ts";

/** An annotation of a removed version, which must not be reintroduced. */
const PRESERVE_ZERO_ANNOTATION = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
const EXEMPT = "exempt";
const QUEUES_MAX = 10_000_000;
/** Maximum entropy of shuffle sharding: queues are dealt from a hash of 64 bits; with four to spare, all hands are about equally likely. */
const HASH_BITS_MAX = 60;
const NO_SPEC: PriorityLevelConfigurationSpec = { type: "" };

export function* validatePriorityLevel({ metadata, spec = NO_SPEC }: PriorityLevelConfiguration): Iterable<FieldError> {
  if (metadata.annotations?.[PRESERVE_ZERO_ANNOTATION] !== undefined) {
    yield forbidden("metadata.annotations", `annotation '${PRESERVE_ZERO_ANNOTATION}' is forbidden`);
  }
  yield* validateSpec(spec, metadata.name);
  yield* validateFixed(spec, metadata.name);
}

function* validateSpec(spec: PriorityLevelConfigurationSpec, name: string): Iterable<FieldError> {
  const { type, limited, exempt } = spec;
  if ((name === EXEMPT) !== (type === "Exempt")) {
    yield invalid("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  if (type === "Exempt") {
    if (limited !== undefined) yield forbidden("spec.limited", "must be nil if the type is not Limited");
    if (exempt !== undefined) yield* validateExempt(exempt, "spec.exempt");
  } else if (type === "Limited") {
    if (exempt !== undefined) yield forbidden("spec.exempt", "must be nil if the type is Limited");
    if (limited === undefined) yield required("spec.limited", "must not be empty when type is Limited");
    else yield* validateLimited(limited, "spec.limited");
  } else {
    yield notSupported("spec.type", type, ["Exempt", "Limited"]);
  }
}

/** Administrators may change how much "exempt" lends; everything else is fixed. */
function* validateFixed(spec: PriorityLevelConfigurationSpec, name: string): Iterable<FieldError> {
  const fixed = mandatoryPriorityLevelSpec(name);
  if (fixed === undefined) return;
  if (deepEqual(name === EXEMPT ? withMembersOf(spec, fixed, "exempt") : spec, fixed)) return;
  const exception = name === EXEMPT ? " except the 'spec.exempt' field" : "";
  yield invalid("spec", shownSpec(spec), `spec of '${name}'${exception} must equal the fixed value`);
}

function* validateLimited(limited: LimitedPriorityLevelConfiguration, at: string): Iterable<FieldError> {
  const { borrowingLimitPercent, limitResponse = { type: "" } } = limited;
  yield* validateShares(limited, at);
  yield* validateLimitResponse(limitResponse, child(at, "limitResponse"));
  yield* validateLendable(limited, at);
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0) {
    yield invalid(child(at, "borrowingLimitPercent"), borrowingLimitPercent, "if specified, must be a non-negative integer");
  }
}

function* validateExempt(exempt: ExemptPriorityLevelConfiguration, at: string): Iterable<FieldError> {
  yield* validateShares(exempt, at);
  yield* validateLendable(exempt, at);
}

function* validateShares({ nominalConcurrencyShares = 0 }: ExemptPriorityLevelConfiguration, at: string): Iterable<FieldError> {
  if (nominalConcurrencyShares >= 0) return;
  yield invalid(child(at, "nominalConcurrencyShares"), nominalConcurrencyShares, "must be a non-negative integer");
}

function* validateLendable({ lendablePercent = 0 }: ExemptPriorityLevelConfiguration, at: string): Iterable<FieldError> {
  if (lendablePercent >= 0 && lendablePercent <= 100) return;
  yield invalid(child(at, "lendablePercent"), lendablePercent, "must be between 0 and 100, inclusive");
}

function* validateLimitResponse({ type, queuing }: LimitResponse, at: string): Iterable<FieldError> {
  const here = child(at, "queuing");
  if (type === "Reject") {
    if (queuing !== undefined) yield forbidden(here, "must be nil if limited.limitResponse.type is not Limited");
  } else if (type === "Queue") {
    if (queuing === undefined) yield required(here, "must not be empty if limited.limitResponse.type is Limited");
    else yield* validateQueuing(queuing, here);
  } else {
    yield notSupported(child(at, "type"), type, ["Queue", "Reject"]);
  }
}

function* validateQueuing({ queues = 0, handSize = 0, queueLengthLimit = 0 }: QueuingConfiguration, at: string): Iterable<FieldError> {
  if (queueLengthLimit <= 0) yield invalid(child(at, "queueLengthLimit"), queueLengthLimit, "must be positive");
  if (queues <= 0) yield invalid(child(at, "queues"), queues, "must be positive");
  else if (queues > QUEUES_MAX) yield invalid(child(at, "queues"), queues, `must not be greater than ${QUEUES_MAX}`);
  const wrong = handProblem(queues, handSize);
  if (wrong !== undefined) yield invalid(child(at, "handSize"), handSize, wrong);
}

function handProblem(queues: number, handSize: number): string | undefined {
  if (handSize <= 0) return "must be positive";
  if (handSize > queues) return `should not be greater than queues (${queues})`;
  if (Math.ceil(Math.log2(queues) * handSize) <= HASH_BITS_MAX) return undefined;
  return `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${HASH_BITS_MAX}`;
}
