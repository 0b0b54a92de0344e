/** The update strategy of a Deployment: Recreate deletes all old Pods first, RollingUpdate replaces a few at a time. */
import { withChanges } from "../../changes.ts";
import type { DeploymentStrategy, RollingUpdateDeployment } from "../../generated/apps/v1.ts";
import { child, forbidden, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { amountOf, validateAtMostAll, validateNumberOrPercent } from "../../number-or-percent.ts";

const QUARTER = "25%";
const RECREATE = "Recreate";
const ROLLING_UPDATE = "RollingUpdate";

export function defaultStrategy(strategy: DeploymentStrategy): DeploymentStrategy {
  const type = strategy.type || ROLLING_UPDATE;
  const { rollingUpdate } = strategy;
  return withChanges(strategy, { type, rollingUpdate: type === ROLLING_UPDATE ? defaultRollingUpdate(rollingUpdate) : rollingUpdate });
}

function defaultRollingUpdate(rollingUpdate: RollingUpdateDeployment = {}): RollingUpdateDeployment {
  const { maxUnavailable = QUARTER, maxSurge = QUARTER } = rollingUpdate;
  return withChanges(rollingUpdate, { maxUnavailable, maxSurge });
}

export function* validateStrategy({ type, rollingUpdate }: DeploymentStrategy, at: string): Iterable<FieldError> {
  const here = child(at, "rollingUpdate");
  if (type === RECREATE) {
    if (rollingUpdate !== undefined) yield forbidden(here, "may not be specified when strategy `type` is 'Recreate'");
  } else if (type === ROLLING_UPDATE) {
    if (rollingUpdate === undefined) yield required(here, "this should be defaulted and never be nil");
    else yield* validateRollingUpdate(rollingUpdate, here);
  } else {
    yield notSupported(at, shownStrategy(type, rollingUpdate), [RECREATE, ROLLING_UPDATE]);
  }
}

/** In the format of upstream's message, shared with DaemonSet: with its type names. */
export function shownStrategy(type: string | undefined, rollingUpdate: RollingUpdateDeployment | undefined): unknown {
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {};
  return {
    Type: type ?? "",
    RollingUpdate: rollingUpdate === undefined ? null : { MaxUnavailable: maxUnavailable, MaxSurge: maxSurge },
  };
}

function* validateRollingUpdate({ maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment, at: string): Iterable<FieldError> {
  const unavailableAt = child(at, "maxUnavailable");
  yield* validateNumberOrPercent(maxUnavailable, unavailableAt);
  yield* validateNumberOrPercent(maxSurge, child(at, "maxSurge"));
  // With neither surge nor unavailable Pods, no Pod could ever be replaced.
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    yield invalid(unavailableAt, maxUnavailable, "may not be 0 when `maxSurge` is 0");
  }
  yield* validateAtMostAll(maxUnavailable, unavailableAt);
}
