/** All commands of the prompt, in the order of `help`. */
import type { Command } from "../command.ts";
import { apply, replace } from "./apply.ts";
import { annotate, cordon, label, patch, scale, setImage, taint, uncordon } from "./change.ts";
import { apiResources, create, expose, run } from "./create.ts";
import { deleteObjects, drain } from "./delete.ts";
import { describe } from "./describe.ts";
import { explain } from "./explain.ts";
import { cat, ls, rm, sed } from "./files.ts";
import { get } from "./get.ts";
import { logs, wait } from "./logs.ts";
import {
  componentAdd,
  componentCrash,
  componentList,
  componentStart,
  componentStop,
  nodeAdd,
  nodeList,
  nodePowerOff,
  nodeStart,
  nodeStop,
} from "./machines.ts";
import { rolloutHistory, rolloutRestart, rolloutStatus, rolloutUndo } from "./rollout.ts";
import { why } from "./why.ts";

export const all: readonly Command[] = [
  get,
  describe,
  apply,
  create,
  run,
  expose,
  scale,
  setImage,
  rolloutStatus,
  rolloutHistory,
  rolloutUndo,
  rolloutRestart,
  deleteObjects,
  replace,
  logs,
  wait,
  label,
  annotate,
  patch,
  taint,
  cordon,
  uncordon,
  drain,
  explain,
  apiResources,
  why,
  nodeList,
  nodeStop,
  nodePowerOff,
  nodeStart,
  nodeAdd,
  componentList,
  componentStop,
  componentCrash,
  componentStart,
  componentAdd,
  cat,
  ls,
  rm,
  sed,
];
