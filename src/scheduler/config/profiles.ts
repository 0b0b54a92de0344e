/**
 * Builds the profiles of a configuration: every enabled plugin is instantiated once per profile, with its arguments, and assigned to its
 * extension points. Errors that only an instantiated plugin reveals are reported here, in upstream's wording.
 */
import type { Plugin, PluginContext, PluginFactory } from "../framework/plugin.ts";
import type { ReadArguments } from "../framework/read-arguments.ts";
import { makeProfile, type PluginsAtPoints, type Profile, type ScorePlugin } from "../cycle/profile.ts";
import { enabledNames, namesAt, type PluginSet } from "./plugin-sets.ts";
import { factoriesOf, type PluginCatalog, type ProfileConfiguration, type SchedulerConfiguration } from "./scheduler-configuration.ts";
import { EXTENSION_POINTS, type ExtensionPoint } from "./written-configuration.ts";

export type MadeProfiles =
  /** By schedulerName. */
  { readonly ok: true; readonly profiles: ReadonlyMap<string, Profile> } | { readonly ok: false; readonly problems: readonly string[] };

export function profilesOf(configuration: SchedulerConfiguration, catalog: PluginCatalog, context: PluginContext): MadeProfiles {
  const profiles = new Map<string, Profile>();
  const problems: string[] = [];
  let firstSort: string | undefined;
  for (const profile of configuration.profiles) {
    const made = new ProfileMaker(profile, catalog, context).make();
    const beginning = `initializing profiles: creating profile for scheduler name ${profile.schedulerName}`;
    problems.push(...made.problems.map((problem) => `${beginning}: ${problem}`));
    if (made.profile === undefined) continue;
    const sort = made.profile.queueSort.name;
    firstSort ??= sort;
    if (sort !== firstSort)
      problems.push(
        `initializing profiles: different queue sort plugins for profile "${profile.schedulerName}": "${sort}", first: "${firstSort}"`,
      );
    profiles.set(profile.schedulerName, made.profile);
  }
  return problems.length === 0 ? { ok: true, profiles } : { ok: false, problems };
}

/** Upstream's names of the points in its errors, "PreFilterPlugin". */
function typeName(point: ExtensionPoint): string {
  return `${point.charAt(0).toUpperCase()}${point.slice(1)}Plugin`;
}

function implementsPoint(plugin: Plugin, point: ExtensionPoint): boolean {
  switch (point) {
    case "queueSort":
      return plugin.compare !== undefined;
    case "reserve":
      return plugin.reserve !== undefined || plugin.unreserve !== undefined;
    default:
      return plugin[point] !== undefined;
  }
}

class ProfileMaker {
  readonly #profile: ProfileConfiguration;
  readonly #plugins = new Map<string, Plugin>();
  readonly #failed = new Set<string>();
  readonly #problems: string[] = [];

  constructor(profile: ProfileConfiguration, catalog: PluginCatalog, context: PluginContext) {
    this.#profile = profile;
    const factories = factoriesOf(catalog);
    for (const name of enabledNames(profile.plugins)) {
      const factory = factories.get(name);
      if (factory === undefined) continue;
      const args = this.#argumentsOf(factory);
      if (args.ok) this.#plugins.set(name, factory.make(context, args.arguments));
      else this.#fail(name, args.problems);
    }
  }

  #argumentsOf(factory: PluginFactory): ReadArguments<unknown> {
    const { arguments: read } = this.#profile;
    if (read.has(factory.name)) return { ok: true, arguments: read.get(factory.name) };
    return factory.readArguments?.(undefined) ?? { ok: true, arguments: undefined };
  }

  #fail(name: string, problems: readonly string[]): void {
    this.#failed.add(name);
    this.#problems.push(...problems.map((problem) => `initializing plugin "${name}": ${problem}`));
  }

  make(): { readonly profile?: Profile; readonly problems: readonly string[] } {
    const { schedulerName, percentageOfNodesToScore, plugins } = this.#profile;
    this.#checkNames(plugins.multiPoint);
    const at = new Map(EXTENSION_POINTS.map((point) => [point, this.#pluginsAt(point)]));
    const of = (point: ExtensionPoint) => at.get(point) ?? [];
    const [queueSort, ...otherSorts] = of("queueSort");
    const sorts = queueSort === undefined ? 0 : 1 + otherSorts.length;
    if (sorts !== 1)
      this.#problems.push(`only one queue sort plugin required for profile with scheduler name "${schedulerName}", but got ${sorts}`);
    if (of("bind").length === 0)
      this.#problems.push(`at least one bind plugin is needed for profile with scheduler name "${schedulerName}"`);
    if (this.#problems.length > 0 || queueSort === undefined) return { problems: this.#problems };
    const points: PluginsAtPoints = {
      preEnqueue: of("preEnqueue"),
      queueSort,
      preFilter: of("preFilter"),
      filter: of("filter"),
      postFilter: of("postFilter"),
      preScore: of("preScore"),
      score: of("score").map((plugin) => this.#weighted(plugin)),
      reserve: of("reserve"),
      permit: of("permit"),
      preBind: of("preBind"),
      bind: of("bind"),
      postBind: of("postBind"),
    };
    return { profile: makeProfile({ schedulerName, percentageOfNodesToScore }, points), problems: [] };
  }

  #pluginsAt(point: ExtensionPoint): Plugin[] {
    const { points, multiPoint } = this.#profile.plugins;
    const set = points[point];
    this.#checkNames(set, point);
    for (const { name } of set.enabled) {
      const plugin = this.#plugins.get(name);
      if (plugin !== undefined && !implementsPoint(plugin, point))
        this.#problems.push(`plugin "${name}" does not extend ${typeName(point)} plugin`);
    }
    const implementing = new Set([...this.#plugins].filter(([, plugin]) => implementsPoint(plugin, point)).map(([name]) => name));
    return namesAt(set, multiPoint, implementing).flatMap((name) => this.#plugins.get(name) ?? []);
  }

  /** Without a point: multiPoint, for which upstream reports the first point that a plugin has. */
  #checkNames({ enabled }: PluginSet, point?: ExtensionPoint): void {
    const seen = new Set<string>();
    for (const { name } of enabled) {
      const plugin = this.#plugins.get(name);
      const at = point ?? EXTENSION_POINTS.find((each) => plugin === undefined || implementsPoint(plugin, each)) ?? EXTENSION_POINTS[0];
      if (plugin === undefined && !this.#failed.has(name)) this.#problems.push(`${typeName(at)} "${name}" does not exist`);
      if (seen.has(name)) this.#problems.push(`plugin "${name}" already registered as "${typeName(at)}"`);
      seen.add(name);
    }
  }

  /** The point itself takes precedence over multiPoint; a scoring plugin's weight cannot be 0. */
  #weighted(plugin: Plugin): ScorePlugin {
    const { points, multiPoint } = this.#profile.plugins;
    const [said] = [...points.score.enabled, ...multiPoint.enabled].filter(({ name }) => name === plugin.name);
    return { plugin, weight: said === undefined || said.weight === 0 ? 1 : said.weight };
  }
}
