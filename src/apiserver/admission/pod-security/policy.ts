/**
 * Computes level and version of the Pod Security Standards for each mode of a namespace, from its labels or else the configured defaults.
 * Invalid labels also yield a policy: "restricted" for enforce, "privileged" for audit and warn.
 */
import { element, invalid, type FieldError } from "../../../api/machinery/field-error.ts";
import type { PodSecurityConfig } from "../../framework/admission-config.ts";

/** Least restrictive first. */
const LEVELS = ["privileged", "baseline", "restricted"] as const;

export type Level = (typeof LEVELS)[number];

export interface LevelVersion {
  readonly level: Level;
  /** "latest" or "v1.<minor>". */
  readonly version: string;
}

/** The mode "audit" is parsed here for audit logging. */
export interface NamespacePolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

type Mode = keyof NamespacePolicy;
const MODES: readonly Mode[] = ["enforce", "audit", "warn"];

export type Labels = Readonly<Record<string, string>>;

export const LATEST = "latest";

/** "restricted:v1.30" */
export function describe({ level, version }: LevelVersion): string {
  return `${level}:${version}`;
}

export function isSame(left: LevelVersion, right: LevelVersion): boolean {
  return left.level === right.level && left.version === right.version;
}

/** Positive if the first is more restrictive. */
export function compareLevels(left: Level, right: Level): number {
  return LEVELS.indexOf(left) - LEVELS.indexOf(right);
}

export function isFullyPrivileged(policy: NamespacePolicy): boolean {
  return MODES.every((mode) => policy[mode].level === "privileged");
}

/** True if both have the same effect: "privileged" ignores the version. */
function isEquivalent(left: NamespacePolicy, right: NamespacePolicy): boolean {
  return MODES.every(
    (mode) => isSame(left[mode], right[mode]) || (left[mode].level === "privileged" && right[mode].level === "privileged"),
  );
}

/** Parses the configured defaults at start; throws if they are invalid. */
export function defaultPolicy({ defaults }: PodSecurityConfig): NamespacePolicy {
  const { policy, errors } = readPolicy(
    MODES.flatMap((mode) => [
      [levelLabel(mode), defaults[mode]],
      [versionLabel(mode), defaults[`${mode}Version`]],
    ]),
    {
      enforce: ANYTHING,
      audit: ANYTHING,
      warn: ANYTHING,
    },
  );
  const [first] = errors;
  if (first !== undefined) throw new Error(`Invalid PodSecurity defaults: ${first.field}: ${first.body}`);
  return policy;
}

const ANYTHING: LevelVersion = { level: "privileged", version: LATEST };

export interface ReadPolicy {
  readonly policy: NamespacePolicy;
  readonly errors: readonly FieldError[];
}

export function policyOf(labels: Labels | undefined, defaults: NamespacePolicy): ReadPolicy {
  const own = labels === undefined ? [] : Object.entries(labels).filter(([key]) => key.startsWith(PREFIX));
  return own.length === 0 ? { policy: defaults, errors: [] } : readPolicy(own, defaults);
}

const PREFIX = "pod-security.kubernetes.io/";

function levelLabel(mode: Mode): string {
  return `${PREFIX}${mode}`;
}

function versionLabel(mode: Mode): string {
  return `${PREFIX}${mode}-version`;
}

function readPolicy(entries: readonly (readonly [string, string])[], defaults: NamespacePolicy): ReadPolicy {
  const labels = new Map(entries);
  const errors: FieldError[] = [];
  const read = (mode: Mode): LevelVersion => ({
    level: readLevel(labels.get(levelLabel(mode)), mode, defaults[mode].level, errors),
    version: readVersion(labels.get(versionLabel(mode)), mode, defaults[mode].version, errors),
  });
  const enforce = read("enforce");
  const isEnforceReadable = errors.every(({ field }) => field !== fieldOf(levelLabel("enforce")));
  const audit = read("audit");
  const warn = read("warn");
  // A stricter enforce level also applies to warnings, for pod templates.
  const inheritsEnforce =
    !labels.has(levelLabel("warn")) &&
    labels.has(levelLabel("enforce")) &&
    isEnforceReadable &&
    compareLevels(enforce.level, warn.level) > 0;
  const version = labels.has(versionLabel("warn")) ? warn.version : enforce.version;
  return { policy: { enforce, audit, warn: inheritsEnforce ? { level: enforce.level, version } : warn }, errors };
}

function readLevel(text: string | undefined, mode: Mode, byDefault: Level, errors: FieldError[]): Level {
  if (text === undefined) return byDefault;
  const level = LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  errors.push(invalid(fieldOf(levelLabel(mode)), text, `must be one of ${LEVELS.join(", ")}`));
  return mode === "enforce" ? "restricted" : "privileged";
}

/** Largest number that upstream parses. */
const MINOR_MAX = 2n ** 63n - 1n;

function readVersion(text: string | undefined, mode: Mode, byDefault: string, errors: FieldError[]): string {
  if (text === undefined) return byDefault;
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(text)?.[1];
  if (text === LATEST || (minor !== undefined && BigInt(minor) <= MINOR_MAX)) return text;
  errors.push(invalid(fieldOf(versionLabel(mode)), text, 'must be "latest" or "v1.x"'));
  return LATEST;
}

function fieldOf(label: string): string {
  return element("metadata.labels", label);
}

/** Returns the warning about labels on an exempt namespace; undefined if they would have no effect. */
export function exemptWarning(namespace: string, policy: NamespacePolicy, labels: Labels, defaults: NamespacePolicy): string | undefined {
  if (isFullyPrivileged(policy) || isEquivalent(policy, defaults)) return undefined;
  const ignored = MODES.filter(
    (mode) => policy[mode].level !== "privileged" && (Object.hasOwn(labels, levelLabel(mode)) || Object.hasOwn(labels, versionLabel(mode))),
  );
  const words = ignored.map((mode) => `${mode}=${describe(policy[mode])}`).join(", ");
  return `namespace "${namespace}" is exempt from Pod Security, and the policy (${words}) will be ignored`;
}
