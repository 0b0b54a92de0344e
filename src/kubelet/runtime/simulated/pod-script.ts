/**
 * Resolves the settings of a container of a Pod. Later ones take precedence: the rules of the cluster in their order, the Pod's script
 * annotation, its single annotations, and then the same two again where they name the container. Settings that name neither a container nor
 * an image apply to the Pod's main containers, not to init and ephemeral ones. A Pod without settings costs a scan of its annotations.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { SelectorError } from "../../../api/machinery/selectors/label-requirement.ts";
import { EVERYTHING, parseLabelSelector, type LabelSelector } from "../../../api/machinery/selectors/label-selector.ts";
import { isObject, type Json, type JsonObject } from "../../../api/machinery/object.ts";
import { RuntimeError } from "../../contracts/runtime.ts";
import { DEFAULT_INIT_SCRIPT, DEFAULT_SCRIPT, scriptOf, type ContainerScript } from "./script.ts";
import { contradictionIn, readSetting, readYaml, SETTING_NAMES, SettingError } from "./settings.ts";
import type { Settings, WrittenSettings } from "./settings.ts";

/**
 * `simulated.k8ts.dev/<setting>` for the main containers, `simulated.k8ts.dev/<setting>.<container>` for one, where a setting is one of
 * WrittenSettings with dashes: `ready-after.web: 5s`.
 */
export const ANNOTATION_PREFIX = "simulated.k8ts.dev/";

/** All settings in one annotation, as YAML or JSON: by name (`readyAfter`), and `containers`, which has those of single containers. */
export const SCRIPT_ANNOTATION = `${ANNOTATION_PREFIX}script`;

/** Settings for all containers of a cluster that satisfy every part of `match`. */
export interface SimulationRule {
  readonly match?: RuleMatch;
  readonly settings: WrittenSettings;
}

export interface RuleMatch {
  readonly namespace?: string;
  /** Selector on the Pod's labels: "app=web,tier in (a, b)". */
  readonly selector?: string;
  /** Kind of the Pod's controller: "Job". */
  readonly ownerKind?: string;
  /** As in the container's spec; "nginx:*" is every image with this prefix. */
  readonly image?: string;
  readonly container?: string;
}

export interface ReadRule {
  readonly match: RuleMatch;
  readonly selector: LabelSelector;
  readonly settings: Settings;
}

/** The parts of a container that matter here. */
export interface NamedContainer {
  readonly name: string;
  readonly image?: string;
}

const MATCH_NAMES = ["namespace", "selector", "ownerKind", "image", "container"] as const satisfies readonly (keyof RuleMatch)[];

/** Throws a RangeError that lists all mistakes. */
export function readRules(rules: readonly SimulationRule[]): readonly ReadRule[] {
  const mistakes: string[] = [];
  const read = rules.map(({ match = {}, settings }, index): ReadRule => {
    const at = `rules[${index}]`;
    // A misspelt name would otherwise match everything.
    for (const name of Object.keys(match))
      if (!(MATCH_NAMES as readonly string[]).includes(name))
        mistakes.push(`${at}.match.${name} is unknown: it may have ${MATCH_NAMES.join(", ")}`);
    return {
      match,
      selector: readSelector(match.selector ?? "", `${at}.match.selector`, mistakes),
      settings: readSettings({ ...settings } as JsonObject, (name) => `${at}.settings.${name}`, mistakes),
    };
  });
  if (mistakes.length > 0) throw new RangeError(`Cannot simulate: ${mistakes.join("; ")}`);
  return read;
}

/** Returns the container's script. Throws a RuntimeError if the Pod's annotations are invalid. */
export function scriptFor(pod: Pod, container: NamedContainer, rules: readonly ReadRule[]): ContainerScript {
  const role = roleOf(pod, container.name);
  const wrote = readAnnotations(pod);
  const fitting = rules.filter((rule) => fits(rule, pod, container, role));
  if (wrote === undefined && fitting.length === 0) return role === "init" ? DEFAULT_INIT_SCRIPT : DEFAULT_SCRIPT;
  const settings: Settings = Object.assign(
    role === "init" ? { runForMs: 0 } : {},
    ...fitting.map((rule) => rule.settings),
    role === "main" ? wrote?.main : undefined,
    wrote?.byContainer.get(container.name),
  );
  const contradiction = contradictionIn(settings);
  if (contradiction !== undefined) throw cannotRun(pod, [`of container ${container.name}, ${contradiction}`]);
  return scriptOf(settings);
}

/** Throws a RuntimeError if a container of the Pod has no valid script. */
export function checkScripts(pod: Pod, rules: readonly ReadRule[]): void {
  for (const container of containersOf(pod)) scriptFor(pod, container, rules);
}

export function* containersOf({ spec }: Pod): Iterable<NamedContainer> {
  yield* spec?.initContainers ?? [];
  yield* spec?.containers ?? [];
  yield* spec?.ephemeralContainers ?? [];
}

type Role = "main" | "init" | "other";

/** Restartable init containers are sidecars: no container waits for their exit. */
function roleOf({ spec }: Pod, name: string): Role {
  if (spec?.containers.some((container) => container.name === name)) return "main";
  return spec?.initContainers?.some((container) => container.name === name && container.restartPolicy !== "Always") ? "init" : "other";
}

function fits({ match, selector }: ReadRule, { metadata }: Pod, { name, image = "" }: NamedContainer, role: Role): boolean {
  if (match.image === undefined && match.container === undefined && role !== "main") return false;
  if (match.namespace !== undefined && match.namespace !== metadata.namespace) return false;
  if (match.container !== undefined && match.container !== name) return false;
  if (match.image !== undefined && !imageFits(match.image, image)) return false;
  if (match.ownerKind !== undefined && !metadata.ownerReferences?.some((owner) => owner.controller && owner.kind === match.ownerKind)) {
    return false;
  }
  return selector.matches(metadata.labels);
}

function imageFits(wanted: string, image: string): boolean {
  return wanted.endsWith("*") ? image.startsWith(wanted.slice(0, -1)) : image === wanted;
}

// ── annotations of a Pod ──────────────────────────────────────────────────────────────────────────────

interface Annotated {
  readonly main: Settings;
  readonly byContainer: ReadonlyMap<string, Settings>;
}

/** Undefined if it has no simulation annotations. */
function readAnnotations(pod: Pod): Annotated | undefined {
  const { annotations = {} } = pod.metadata;
  const written: [name: string, value: string][] = [];
  for (const key in annotations) {
    if (key.startsWith(ANNOTATION_PREFIX)) written.push([key.slice(ANNOTATION_PREFIX.length), annotations[key] as string]);
  }
  if (written.length === 0) return undefined;
  const mistakes: string[] = [];
  const annotated = readWritten(pod, written, mistakes);
  if (mistakes.length > 0) throw cannotRun(pod, mistakes);
  return annotated;
}

function readWritten(pod: Pod, written: readonly [string, string][], mistakes: string[]): Annotated {
  const names = new Set(Array.from(containersOf(pod), ({ name }) => name));
  const byContainer = new Map<string, Settings>();
  let main: Settings = {};
  const add = (container: string | undefined, settings: Settings, where: string): void => {
    if (container === undefined) main = { ...main, ...settings };
    else if (names.has(container)) byContainer.set(container, { ...byContainer.get(container), ...settings });
    else mistakes.push(`${where} is about container ${JSON.stringify(container)} and should be about ${[...names].join(" or ")}`);
  };
  // The script first, so that single annotations override it.
  for (const [name, value] of written) if (name === "script") readScript(value, add, mistakes);
  for (const [name, value] of written) {
    if (name === "script") continue;
    const dot = name.indexOf(".");
    const setting = dot === -1 ? name : name.slice(0, dot);
    const where = `annotation ${ANNOTATION_PREFIX}${name}`;
    add(dot === -1 ? undefined : name.slice(dot + 1), readOne(camelCase(setting), value, where, mistakes, dashed), where);
  }
  return { main, byContainer };
}

function readScript(
  written: string,
  add: (container: string | undefined, settings: Settings, where: string) => void,
  mistakes: string[],
): void {
  const where = `annotation ${SCRIPT_ANNOTATION}`;
  const script = attempt(() => objectOf(readYaml(written)), where, written, mistakes);
  if (script === undefined) return;
  const { containers = {}, ...main } = script;
  add(
    undefined,
    readSettings(main, (name) => `${name} in ${where}`, mistakes),
    where,
  );
  const byContainer = attempt(() => objectOf(containers), `containers in ${where}`, containers, mistakes);
  for (const [container, value] of Object.entries(byContainer ?? {})) {
    const at = `containers.${container}`;
    const settings = attempt(() => objectOf(value ?? null), `${at} in ${where}`, value ?? null, mistakes);
    if (settings !== undefined)
      add(
        container,
        readSettings(settings, (name) => `${at}.${name} in ${where}`, mistakes),
        where,
      );
  }
}

// ── settings by name ──────────────────────────────────────────────────────────────────────────────────

function readSettings(written: JsonObject, whereOf: (name: string) => string, mistakes: string[]): Settings {
  let settings: Settings = {};
  for (const [name, value] of Object.entries(written)) {
    if (value !== undefined) settings = { ...settings, ...readOne(name, value, whereOf(name), mistakes, (known) => known) };
  }
  return settings;
}

function readOne(name: string, value: Json, where: string, mistakes: string[], spelled: (name: string) => string): Settings {
  if (!SETTING_NAMES.includes(name)) {
    mistakes.push(`${where} is not a setting and should be one of ${SETTING_NAMES.map(spelled).join(", ")}`);
    return {};
  }
  return attempt(() => readSetting(name, value), where, value, mistakes) ?? {};
}

function readSelector(written: string, where: string, mistakes: string[]): LabelSelector {
  try {
    return parseLabelSelector(written);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    mistakes.push(`${where} is ${JSON.stringify(written)} and should be a label selector such as app=web (${error.message})`);
    return EVERYTHING;
  }
}

/** Collects mistakes, so that all of them are reported at once. */
function attempt<T>(read: () => T, where: string, value: Json, mistakes: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    mistakes.push(`${where} is ${shown(value)} and should be ${error.message}`);
    return undefined;
  }
}

/** Shortens a value for an error message. */
const SHOWN_LENGTH_MAX = 80;

function shown(value: Json): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

function objectOf(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new SettingError("settings by their names such as {readyAfter: 5s}");
}

/** "readyAfter" for "ready-after"; any other spelling stays unknown. */
function camelCase(name: string): string {
  return /^[a-z]+(-[a-z]+)*$/.test(name) ? name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()) : `"${name}"`;
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function cannotRun({ metadata }: Pod, mistakes: readonly string[]): RuntimeError {
  return new RuntimeError("CannotRun", `Cannot run Pod ${metadata.namespace}/${metadata.name}: ${mistakes.join("; ")}`);
}
