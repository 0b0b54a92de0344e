/** State shared by all simulated nodes of a cluster: its rules, one timer, and a cache of images. */
import type { Clock } from "../../../base/clock.ts";
import { Lru } from "../../../base/lru.ts";
import type { Image } from "../../contracts/runtime.ts";
import { Alarms } from "./alarms.ts";
import { imageOf } from "./images.ts";
import { readRules, type ReadRule, type SimulationRule } from "./pod-script.ts";

export interface SimulationOptions {
  /** If two rules have the same setting, the later takes precedence. Annotations of a Pod override all. Default: none. */
  readonly rules?: readonly SimulationRule[];
}

/** More than a cluster has in use; recomputing one only costs time. */
const IMAGES_MAX = 1_000;

export class Simulation {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly rules: readonly ReadRule[];
  readonly #images = new Lru<string, { readonly image: Image | undefined }>({ max: IMAGES_MAX });

  /** Throws a RangeError that lists all mistakes in the rules. */
  constructor(clock: Clock, { rules = [] }: SimulationOptions = {}) {
    this.clock = clock;
    this.alarms = new Alarms(clock);
    this.rules = readRules(rules);
  }

  /** Undefined if the reference is invalid. */
  imageOf(reference: string): Image | undefined {
    const known = this.#images.get(reference);
    if (known !== undefined) return known.image;
    const image = imageOf(reference);
    this.#images.set(reference, { image });
    return image;
  }
}
