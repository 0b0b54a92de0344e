/** Play, pause, step and speed of a flow. */
import { h, type JSX } from "preact";
import { INTERVALS_MS, type Player, type PlayerAction } from "../../../data/flow/flow-player.ts";

export interface PlayerControlsProps {
  readonly player: Player;
  readonly count: number;
  act(action: PlayerAction): void;
}

const SPEEDS: Readonly<Record<(typeof INTERVALS_MS)[number], string>> = { 2000: "very slow", 1000: "slow", 400: "normal", 100: "fast" };

export function PlayerControls({ player: { shown, isPlaying, intervalMs }, count, act }: PlayerControlsProps): JSX.Element {
  const isMoving = isPlaying && shown < count;
  const button = (text: string, action: PlayerAction, isDisabled = false) =>
    h("button", { type: "button", disabled: isDisabled, onClick: () => act(action) }, text);
  return h(
    "div",
    { class: "player", role: "group", "aria-label": "Playback" },
    button("Back", { is: "step", by: -1 }, shown <= 1),
    isMoving ? button("Pause", { is: "pause" }) : button(shown >= count ? "Play again" : "Play", { is: "play" }, count === 0),
    button("Forward", { is: "step", by: 1 }, shown >= count),
    h(
      "select",
      {
        "aria-label": "Speed",
        value: String(intervalMs),
        onChange: ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) =>
          act({ is: "interval", intervalMs: Number(currentTarget.value) }),
      },
      INTERVALS_MS.map((ms) => h("option", { key: ms, value: String(ms) }, SPEEDS[ms])),
    ),
    h("input", {
      type: "range",
      "aria-label": "Step",
      min: 1,
      max: Math.max(1, count),
      value: Math.max(1, shown),
      onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => act({ is: "jump", to: Number(currentTarget.value) }),
    }),
    h("span", { class: "count" }, `step ${shown} of ${count}`),
  );
}
