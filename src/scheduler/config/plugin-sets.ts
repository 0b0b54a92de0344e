/**
 * Enabled plugins per extension point: the defaults, merged with a profile. Upstream's rules, whose order is the call order:
 * - A profile adds to the defaults. A re-enabled plugin (with another weight) keeps its position; a new one comes last.
 * - Disabled ones are removed; "*" disables all defaults.
 * - `multiPoint` stands for all points that a plugin implements; a specific point takes precedence.
 */
import type { WrittenPlugin, WrittenPluginSet, WrittenPlugins } from "./written-configuration.ts";
import { EXTENSION_POINTS, type ExtensionPoint } from "./written-configuration.ts";

/** A plugin in a list, with its score weight; 0: unspecified. */
export interface EnabledPlugin {
  readonly name: string;
  readonly weight: number;
}

export interface PluginSet {
  readonly enabled: readonly EnabledPlugin[];
  readonly disabled: ReadonlySet<string>;
}

/** A profile's configuration of every point. */
export interface PluginSets {
  readonly multiPoint: PluginSet;
  readonly points: Readonly<Record<ExtensionPoint, PluginSet>>;
}

const EVERYTHING = "*";

/** `defaults` are those of multiPoint: no single point has its own. */
export function pluginSets(defaults: readonly EnabledPlugin[], written: WrittenPlugins = {}): PluginSets {
  const points = EXTENSION_POINTS.map((point) => [point, merged([], written[point])] as const);
  return {
    multiPoint: merged(defaults, written.multiPoint),
    points: Object.fromEntries(points) as Record<ExtensionPoint, PluginSet>,
  };
}

function merged(defaults: readonly EnabledPlugin[], written: WrittenPluginSet = {}): PluginSet {
  const enabled = (written.enabled ?? []).map(read);
  const disabled = new Set((written.disabled ?? []).map(({ name = "" }) => name));
  const kept = disabled.has(EVERYTHING) ? [] : defaults.filter(({ name }) => !disabled.has(name));
  // The last one that names a default replaces it; a second one remains, and is rejected as a duplicate when the profile is built.
  const replacing = kept.map(({ name }) => enabled.findLast((plugin) => plugin.name === name));
  const added = enabled.filter((plugin) => !replacing.includes(plugin));
  return { enabled: [...kept.map((plugin, index) => replacing[index] ?? plugin), ...added], disabled };
}

function read({ name = "", weight = 0 }: WrittenPlugin): EnabledPlugin {
  return { name, weight };
}

/**
 * The names at one point, in call order: first those of multiPoint that the point itself names too (in the point's order), then the rest of
 * multiPoint, then what only the point names. `implementing`: the plugins of multiPoint that have this point.
 */
export function namesAt(point: PluginSet, multiPoint: PluginSet, implementing: ReadonlySet<string>): string[] {
  const own = point.enabled.map(({ name }) => name);
  if (multiPoint.enabled.length === 0 || point.disabled.has(EVERYTHING)) return own;
  const shared = multiPoint.enabled.map(({ name }) => name).filter((name) => implementing.has(name) && !point.disabled.has(name));
  return [
    ...own.filter((name) => shared.includes(name)),
    ...shared.filter((name) => !own.includes(name)),
    ...own.filter((name) => !shared.includes(name)),
  ];
}

/** Every plugin enabled anywhere. */
export function enabledNames({ multiPoint, points }: PluginSets): Set<string> {
  return new Set([multiPoint, ...Object.values(points)].flatMap(({ enabled }) => enabled.map(({ name }) => name)));
}
