/**
 * Turns a KubeSchedulerConfiguration document into the scheduler's configuration: defaulted, validated, all errors at once in upstream's
 * wording and with its field paths. Not here: files and flags (config), and errors that only instantiated plugins reveal (profiles.ts).
 */
import { DecodeError } from "../../api/machinery/codec/decode-error.ts";
import { decodeBySchema } from "../../api/machinery/codec/decode.ts";
import { describeMistake, strictDecodingSentence } from "../../api/machinery/codec/strict.ts";
import { durationToMs, parseDuration } from "../../api/machinery/duration.ts";
import { child, describeFieldError, duplicate, element, type FieldError, forbidden, required } from "../../api/machinery/field-error.ts";
import type { Json } from "../../api/machinery/object.ts";
import type { ProfileOptions } from "../cycle/profile.ts";
import { readPluginArguments } from "./plugin-arguments.ts";
import { pluginSets } from "./plugin-sets.ts";
import {
  factoriesOf,
  type LeaderElection,
  type PluginCatalog,
  type ProfileConfiguration,
  type SchedulerConfiguration,
} from "./scheduler-configuration.ts";
import { backoffErrors, connectionErrors, percentageErrors, queueSortErrors, removedPluginErrors } from "./validate-configuration.ts";
import {
  CONFIGURATION_API_VERSION,
  CONFIGURATION_KIND,
  CONFIGURATION_SCHEMA,
  type WrittenConfiguration,
  type WrittenLeaderElection,
  type WrittenProfile,
} from "./written-configuration.ts";

export type ReadConfiguration =
  | { readonly ok: true; readonly configuration: SchedulerConfiguration }
  /**
   * `readable` is what could be read nevertheless, with defaults for the rest: not to be used, but building profiles from it reveals
   * further errors. Absent if nothing could be read.
   */
  | { readonly ok: false; readonly problems: readonly string[]; readonly readable?: SchedulerConfiguration };

const NO_EXTENDERS = "there are no extenders here: make it a plugin, or run the scheduler that has them under a schedulerName of its own";

const DEFAULT_SCHEDULER_NAME = "default-scheduler";

/** All upstream's. */
const DEFAULTS = {
  percentageOfNodesToScore: 0,
  podInitialBackoffSeconds: 1,
  podMaxBackoffSeconds: 10,
  leaseDuration: "15s",
  renewDeadline: "10s",
  retryPeriod: "2s",
  resourceNamespace: "kube-system",
  resourceName: "kube-scheduler",
} as const;

/** `written` is parsed YAML or JSON. */
export function readSchedulerConfiguration(written: unknown, catalog: PluginCatalog): ReadConfiguration {
  const decoded = decode(written);
  if (decoded.configuration === undefined) return { ok: false, problems: decoded.problems };
  const reader = new ConfigurationReader(catalog);
  const configuration = reader.read(decoded.configuration);
  const problems = [...decoded.problems, ...reader.problems];
  return problems.length === 0 ? { ok: true, configuration } : { ok: false, problems, readable: configuration };
}

/** The default configuration. */
export function defaultSchedulerConfiguration(catalog: PluginCatalog): SchedulerConfiguration {
  return new ConfigurationReader(catalog).read({});
}

function decode(written: unknown): { readonly configuration?: WrittenConfiguration; readonly problems: readonly string[] } {
  try {
    const { object, unknownFields } = decodeBySchema((written ?? {}) as Json, CONFIGURATION_SCHEMA);
    const configuration = object as WrittenConfiguration;
    const wrongKind = kindProblem(configuration);
    if (wrongKind !== undefined) return { problems: [wrongKind] };
    const unknown = unknownFields.map((path) => describeMistake({ what: "unknown", path }));
    return { configuration, problems: unknown.length === 0 ? [] : [strictDecodingSentence(unknown)] };
  } catch (error) {
    if (error instanceof DecodeError) return { problems: [error.message] };
    throw error;
  }
}

function kindProblem({ apiVersion = "", kind = "" }: WrittenConfiguration): string | undefined {
  if (kind === "") return "Object 'Kind' is missing";
  if (apiVersion === "") return "Object 'apiVersion' is missing";
  if (apiVersion === CONFIGURATION_API_VERSION && kind === CONFIGURATION_KIND) return undefined;
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}: it should be a ${CONFIGURATION_KIND} of ${CONFIGURATION_API_VERSION}`;
}

class ConfigurationReader {
  readonly problems: string[] = [];
  readonly #catalog: PluginCatalog;

  constructor(catalog: PluginCatalog) {
    this.#catalog = catalog;
  }

  read(written: WrittenConfiguration): SchedulerConfiguration {
    const leaderElection = leaderElectionOf(written.leaderElection);
    this.#complain(connectionErrors(written, leaderElection));
    const profiles = this.#profiles(written);
    // Inexact above 2^53, where they are bigints: 285 million years.
    const initialSeconds = Number(written.podInitialBackoffSeconds ?? DEFAULTS.podInitialBackoffSeconds);
    const maxSeconds = Number(written.podMaxBackoffSeconds ?? DEFAULTS.podMaxBackoffSeconds);
    this.#complain(percentageErrors("percentageOfNodesToScore", written.percentageOfNodesToScore));
    this.#complain(backoffErrors({ initialSeconds, maxSeconds }));
    if (written.extenders !== undefined && written.extenders.length > 0) this.#complain([forbidden("extenders", NO_EXTENDERS)]);
    return {
      podInitialBackoffMs: initialSeconds * 1000,
      podMaxBackoffMs: maxSeconds * 1000,
      leaderElection,
      kubeconfig: written.clientConnection?.kubeconfig ?? "",
      profiles,
    };
  }

  #profiles(written: WrittenConfiguration): ProfileConfiguration[] {
    const profiles = written.profiles === undefined || written.profiles.length === 0 ? [{}] : written.profiles;
    // Only a single profile defaults to the default scheduler name; of several each must have one.
    const schedulerName = profiles.length === 1 ? DEFAULT_SCHEDULER_NAME : "";
    const percentageOfNodesToScore = written.percentageOfNodesToScore ?? DEFAULTS.percentageOfNodesToScore;
    const read: ProfileConfiguration[] = [];
    for (const [index, profile] of profiles.entries()) {
      const at = element("profiles", index);
      const next = this.#profile(profile, at, { schedulerName, percentageOfNodesToScore });
      if (next.schedulerName !== "" && read.some((other) => other.schedulerName === next.schedulerName))
        this.#complain([duplicate(child(at, "schedulerName"), next.schedulerName)]);
      read.push(next);
    }
    this.#complain(queueSortErrors(read));
    return read;
  }

  #profile(written: WrittenProfile, at: string, defaults: ProfileOptions): ProfileConfiguration {
    const { schedulerName, percentageOfNodesToScore } = { ...defaults, ...written };
    if (schedulerName === "") this.#complain([required(child(at, "schedulerName"))]);
    this.#complain(percentageErrors(child(at, "percentageOfNodesToScore"), written.percentageOfNodesToScore));
    this.#complain(removedPluginErrors(written, at));
    const { read, problems } = readPluginArguments(written.pluginConfig ?? [], at, factoriesOf(this.#catalog));
    this.problems.push(...problems);
    const enabled = this.#catalog.defaults.map(({ factory, weight = 0 }) => ({ name: factory.name, weight }));
    return { schedulerName, percentageOfNodesToScore, plugins: pluginSets(enabled, written.plugins), arguments: read };
  }

  #complain(errors: Iterable<FieldError>): void {
    for (const error of errors) this.problems.push(describeFieldError(error));
  }
}

function leaderElectionOf(written: WrittenLeaderElection = {}): LeaderElection {
  const ms = (name: "leaseDuration" | "renewDeadline" | "retryPeriod") => {
    const nanoseconds = parseDuration(written[name] ?? "0s");
    // As upstream: absent and "0s" are the same.
    return durationToMs(nanoseconds === 0n ? parseDuration(DEFAULTS[name]) : nanoseconds);
  };
  return {
    leaderElect: written.leaderElect ?? true,
    leaseDurationMs: ms("leaseDuration"),
    renewDeadlineMs: ms("renewDeadline"),
    retryPeriodMs: ms("retryPeriod"),
    resourceNamespace: written.resourceNamespace || DEFAULTS.resourceNamespace,
    resourceName: written.resourceName || DEFAULTS.resourceName,
  };
}
