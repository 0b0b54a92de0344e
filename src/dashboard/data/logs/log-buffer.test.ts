import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { LINES_MAX, LogBuffer } from "./log-buffer.ts";

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}.000000000Z`;

test("a log buffer orders the lines of several logs by their timestamps", () => {
  const buffer = new LogBuffer();

  buffer.add(0, [`${at(1)} a1`, `${at(4)} a4`]);
  buffer.add(1, [`${at(2)} b2`, `${at(4)} b4`, `${at(5)} b5`]);
  buffer.add(0, [`${at(6)} a6`]);

  deepEqual(
    buffer.lines.map(({ text }) => text),
    ["a1", "b2", "a4", "b4", "b5", "a6"],
  );
  equal(new Set(buffer.lines.map(({ id }) => id)).size, 6);
});

test("a log buffer drops the oldest lines above its limit and counts them", () => {
  const buffer = new LogBuffer();

  for (let index = 0; index < 3; index++)
    buffer.add(
      0,
      Array.from({ length: LINES_MAX / 2 }, (_, line) => `${at(index)} ${index}/${line}`),
    );

  equal(buffer.lines.length, LINES_MAX);
  equal(buffer.dropped, LINES_MAX / 2);
  equal(buffer.lines[0]?.text, "1/0");
});

test("a log buffer drops lines above its size, and cuts a long line", () => {
  const buffer = new LogBuffer();

  for (let index = 0; index < 900; index++) buffer.add(0, ["x".repeat(50_000)]);

  equal(buffer.lines[0]?.text.endsWith("(30000 more characters)"), true);
  equal(buffer.lines.length + buffer.dropped, 900);
  equal(buffer.dropped > 50, true);
});

test("a log buffer keeps lines without a timestamp as they are", () => {
  const buffer = new LogBuffer();

  buffer.add(2, ["no time here", at(1), `${at(1)} `]);

  deepEqual(
    buffer.lines.map(({ at: time, text, source }) => ({ time, text, source })),
    [
      { time: "", text: "no time here", source: 2 },
      { time: at(1), text: "", source: 2 },
      { time: at(1), text: "", source: 2 },
    ],
  );
});
