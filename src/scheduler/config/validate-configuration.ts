/** Validation of a KubeSchedulerConfiguration, with upstream's paths and wording. Plugin arguments are validated by the plugins. */
import { child, element, type FieldError, invalid } from "../../api/machinery/field-error.ts";
import type { PluginSet } from "./plugin-sets.ts";
import type { LeaderElection, ProfileConfiguration } from "./scheduler-configuration.ts";
import { CONFIGURATION_API_VERSION, EXTENSION_POINTS, type WrittenConfiguration, type WrittenProfile } from "./written-configuration.ts";

const PERCENT_MAX = 100;

export function* connectionErrors(written: WrittenConfiguration, leaderElection: LeaderElection): Iterable<FieldError> {
  const { clientConnection, parallelism = 1 } = written;
  const burst = clientConnection?.burst ?? 0;
  if (burst < 0) yield invalid("clientConnection.burst", burst, "must be non-negative");
  if (leaderElection.leaderElect) yield* leaderElectionErrors(written, leaderElection);
  if (parallelism <= 0) yield invalid("parallelism", parallelism, "should be an integer value greater than zero");
}

export function* backoffErrors(given: { readonly initialSeconds: number; readonly maxSeconds: number }): Iterable<FieldError> {
  const { initialSeconds, maxSeconds } = given;
  if (initialSeconds <= 0) yield invalid("podInitialBackoffSeconds", initialSeconds, "must be greater than 0");
  if (maxSeconds < initialSeconds)
    yield invalid("podMaxBackoffSeconds", maxSeconds, "must be greater than or equal to PodInitialBackoffSeconds");
}

export function* percentageErrors(at: string, percentage: number | undefined): Iterable<FieldError> {
  if (percentage !== undefined && (percentage < 0 || percentage > PERCENT_MAX))
    yield invalid(at, percentage, `not in valid range [0-${PERCENT_MAX}]`);
}

function* leaderElectionErrors({ leaderElection: written }: WrittenConfiguration, read: LeaderElection): Iterable<FieldError> {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = read;
  const positive = "must be greater than zero";
  if (leaseDurationMs <= 0) yield invalid("leaderElection.leaseDuration", written?.leaseDuration, positive);
  if (renewDeadlineMs <= 0) yield invalid("leaderElection.renewDeadline", written?.renewDeadline, positive);
  if (retryPeriodMs <= 0) yield invalid("leaderElection.retryPeriod", written?.retryPeriod, positive);
  if (leaseDurationMs <= renewDeadlineMs)
    yield invalid("leaderElection.leaseDuration", written?.renewDeadline ?? "10s", "must be greater than `RenewDeadline`");
  const lock = written?.resourceLock ?? "";
  if (lock !== "" && lock !== "leases") yield invalid("leaderElection.resourceLock", lock, 'resourceLock value must be "leases"');
}

/** Removed plugins: replaced by CSI drivers. */
const REMOVED_PLUGINS = ["AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"];

const WAS_REMOVED = `was invalid in version "v1" (KubeSchedulerConfiguration is version "${CONFIGURATION_API_VERSION}")`;

export function* removedPluginErrors({ plugins = {}, pluginConfig = [] }: WrittenProfile, at: string): Iterable<FieldError> {
  for (const point of EXTENSION_POINTS) {
    for (const [index, { name = "" }] of (plugins[point]?.enabled ?? []).entries()) {
      const place = element(child(at, "plugins", point, "enabled"), index);
      if (REMOVED_PLUGINS.includes(name)) yield invalid(place, name, WAS_REMOVED);
    }
  }
  for (const [index, { name = "" }] of pluginConfig.entries()) {
    if (REMOVED_PLUGINS.includes(name)) yield invalid(element(child(at, "pluginConfig"), index), name, WAS_REMOVED);
  }
}

/** There is one queue for all profiles, so they must agree on its order. */
export function* queueSortErrors(profiles: readonly ProfileConfiguration[]): Iterable<FieldError> {
  const [first, ...others] = profiles.map(({ plugins }) => plugins.points.queueSort);
  if (first === undefined) return;
  if (first.enabled.length > 1)
    yield invalid("profiles[0].plugins.queueSort.Enabled", first.enabled.length, "only one queue sort plugin can be enabled");
  for (const [index, set] of others.entries()) {
    const at = child(element("profiles", index + 1), "plugins", "queueSort");
    if (asUpstreamShows(set) !== asUpstreamShows(first))
      yield invalid(at, JSON.parse(asUpstreamShows(set)), "must be the same for all profiles");
  }
}

/** Upstream's message shows its Go type, whose fields are capitalised. */
function asUpstreamShows({ enabled, disabled }: PluginSet): string {
  const shown = (name: string, weight: number) => ({ Name: name, Weight: weight });
  return JSON.stringify({
    Enabled: enabled.length === 0 ? null : enabled.map(({ name, weight }) => shown(name, weight)),
    Disabled: disabled.size === 0 ? null : Array.from(disabled, (name) => shown(name, 0)),
  });
}
