/**
 * Playback of a flow: which of its steps are shown. While it plays, it advances one step per interval up to the last one that is recorded,
 * and continues by itself when more are; a person can pause it, step and jump. Pure: time is counted by the caller.
 */

export interface Player {
  /** Steps that are shown: 1 is the request alone. 0 before anything is recorded. */
  readonly shown: number;
  readonly isPlaying: boolean;
  /** Milliseconds per step. */
  readonly intervalMs: number;
}

/** From slow motion to as fast as a person can follow. */
export const INTERVALS_MS = [2_000, 1_000, 400, 100] as const;

export const NEW_PLAYER: Player = { shown: 0, isPlaying: true, intervalMs: 400 };

export type PlayerAction =
  | { readonly is: "tick" }
  | { readonly is: "play" }
  | { readonly is: "pause" }
  | { readonly is: "jump"; readonly to: number }
  | { readonly is: "step"; readonly by: 1 | -1 }
  | { readonly is: "interval"; readonly intervalMs: number };

/** `count`: steps that are recorded. Every action of a person but "play" and "interval" pauses. */
export function playerAfter(player: Player, action: PlayerAction, count: number): Player {
  const within = (shown: number) => Math.max(Math.min(1, count), Math.min(count, shown));
  switch (action.is) {
    case "tick":
      return player.isPlaying && player.shown < count ? { ...player, shown: player.shown + 1 } : player;
    case "play":
      // At the end it starts again.
      return { ...player, isPlaying: true, shown: player.shown >= count ? within(0) : player.shown };
    case "pause":
      return { ...player, isPlaying: false };
    case "jump":
      return { ...player, isPlaying: false, shown: within(action.to) };
    case "step":
      return { ...player, isPlaying: false, shown: within(player.shown + action.by) };
    case "interval":
      return { ...player, intervalMs: action.intervalMs };
  }
}
