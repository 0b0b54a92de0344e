/** What all simulated nodes of a cluster share: its rules, one timer, and what is known of images. */
import type { Clock } from "../../../base/clock.ts";
import { Lru } from "../../../base/lru.ts";
import type { Image } from "../../contracts/runtime.ts";
import { Alarms } from "./alarms.ts";
import { imageOf } from "./images.ts";
import { readRules, type ReadRule, type SimulationRule } from "./pod-script.ts";

export interface SimulationOptions {
  /** Of settings that two rules have, the later rule's count. Annotations of a Pod win over all. Default: none. */
  readonly rules?: readonly SimulationRule[];
}

/** More than a cluster has in use; working one out anew only costs time. */
const IMAGES_MAX = 1_000;

export class Simulation {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly rules: readonly ReadRule[];
  readonly #images = new Lru<string, { readonly image: Image | undefined }>({ max: IMAGES_MAX });

  /** Throws a RangeError with everything that is wrong in the rules. */
  constructor(clock: Clock, { rules = [] }: SimulationOptions = {}) {
    this.clock = clock;
    this.alarms = new Alarms(clock);
    this.rules = readRules(rules);
  }

  /** Undefined if the reference is none. */
  imageOf(reference: string): Image | undefined {
    const known = this.#images.get(reference);
    if (known !== undefined) return known.image;
    const image = imageOf(reference);
    this.#images.set(reference, { image });
    return image;
  }
}
