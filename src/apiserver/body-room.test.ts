import { doesNotThrow, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { isReason } from "../api/machinery/status-error.ts";
import { BodyRoom } from "./body-room.ts";

const ANN = { name: "ann", groups: [] };
const BOB = { name: "bob", groups: [] };
const EVE = { name: "eve", groups: [] };
const MASTER = { name: "root", groups: ["system:masters"] };
const isFull = (error: unknown) => isReason(error, "TooManyRequests");

test("nobody gets more than half of the room, all together get all of it, and what is left can be taken again", () => {
  const room = new BodyRoom(4);
  const taken = [room.take(ANN), room.take(ANN)];

  throws(() => room.take(ANN), isFull);
  room.take(BOB);
  room.take(BOB);
  throws(() => room.take(EVE), isFull);
  doesNotThrow(() => room.take(MASTER));

  for (const place of taken) place.leave();
  throws(() => room.take(BOB), isFull, "Bob has his half");
  doesNotThrow(() => room.take(EVE));
});

test("where there is room for one, one gets in", () => {
  const room = new BodyRoom(1);
  const place = room.take(ANN);
  throws(() => room.take(ANN), isFull);
  place.leave();
  equal(typeof room.take(ANN).leave, "function");
});
