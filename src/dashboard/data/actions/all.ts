/** All actions, in the order of their buttons. */
import type { Action } from "./action.ts";
import { cordon, drain, uncordon } from "./nodes.ts";
import { pause, resume, suspend, unsuspend } from "./pause.ts";
import { restart } from "./restart.ts";
import { scale } from "./scale.ts";
import { trigger } from "./trigger.ts";
import { undo } from "./undo.ts";

export const all: readonly Action[] = [scale, restart, undo, pause, resume, trigger, suspend, unsuspend, cordon, uncordon, drain];
