/**
 * The plugins of one `schedulerName`, instantiated and grouped by extension point, so that a cycle only walks arrays. Built once;
 * config/profiles.ts creates them from a configuration.
 */
import { assert } from "../../base/assert.ts";
import type { Plugin } from "../framework/plugin.ts";

export interface ScorePlugin {
  readonly plugin: Plugin;
  /** Score weight, an integer from 1. */
  readonly weight: number;
}

/** Plugins by extension point, in call order. Upstream's names of the points. */
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
  /** Pods with this `spec.schedulerName` use these plugins. */
  readonly schedulerName: string;
  /** percentageOfNodesToScore, 1 to 100; 0: adaptive (see sample.ts). */
  readonly percentageOfNodesToScore: number;
  /** Every plugin used at any point, once. */
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
