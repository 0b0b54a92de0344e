/**
 * The plugins of one `schedulerName`, made and sorted by the point at which they are asked, so that a cycle only walks arrays.
 * Prepared once; config/profiles.ts makes them from a configuration.
 */
import { assert } from "../../base/assert.ts";
import type { Plugin } from "../framework/plugin.ts";

export interface ScorePlugin {
  readonly plugin: Plugin;
  /** How much its 0..100 counts. A whole number from 1. */
  readonly weight: number;
}

/** Which plugins are asked at which point, in the order of asking. Upstream's names of the points. */
export interface PluginsAtPoints {
  readonly preEnqueue: readonly Plugin[];
  readonly queueSort: Plugin;
  readonly preFilter: readonly Plugin[];
  readonly filter: readonly Plugin[];
  readonly postFilter: readonly Plugin[];
  readonly preScore: readonly Plugin[];
  readonly score: readonly ScorePlugin[];
  readonly reserve: readonly Plugin[];
  readonly permit: readonly Plugin[];
  readonly preBind: readonly Plugin[];
  readonly bind: readonly Plugin[];
  readonly postBind: readonly Plugin[];
}

export interface Profile extends PluginsAtPoints {
  /** Pods that name it in `spec.schedulerName` are decided with these plugins. */
  readonly schedulerName: string;
  /** The share of nodes after which the search for more stops, 1 to 100; 0: the more nodes, the smaller (see sample.ts). */
  readonly percentageOfNodesToScore: number;
  /** Every plugin that is asked at any point, once. */
  readonly plugins: readonly Plugin[];
}

export interface ProfileOptions {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore: number;
}

export function makeProfile(options: ProfileOptions, points: PluginsAtPoints): Profile {
  for (const plugin of points.filter) {
    const follows = plugin.podAdded !== undefined || plugin.podRemoved !== undefined;
    assert(!follows || plugin.copyState !== undefined, `plugin ${plugin.name}, whose state follows added Pods, says how to copy it`);
  }
  const { score, queueSort, ...lists } = points;
  const plugins = new Set([queueSort, ...Object.values(lists).flat(), ...score.map(({ plugin }) => plugin)]);
  return { ...options, ...points, plugins: [...plugins] };
}
