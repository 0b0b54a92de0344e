/** Routes of virtual time. */
import type { Driver } from "../../embedded/driver.ts";
import type { ControlledCluster } from "../controlled-cluster.ts";
import type { Generation } from "../generation.ts";
import { conflict } from "../problem.ts";
import type { Fields } from "./fields.ts";
import { defineRoute } from "./route.ts";

/** A year of an idle cluster with one node is minutes of processor time; one call should end before clients time out. */
const ADVANCE_MAX_MS = 366 * 86_400_000;

const TIME = {
  now: { type: "string", required: true, doc: "Time of the cluster, RFC 3339 with milliseconds." },
  time: { type: "string", values: ["real", "virtual"], required: true, doc: "Whether time passes by itself." },
} as const satisfies Fields;

export const timeRoutes = [
  defineRoute({
    method: "GET",
    path: "/v1/clusters/{cluster}/time",
    operation: "getTime",
    summary: "Returns the cluster's time.",
    answer: TIME,
    handle: async ({ control, parameters }) => timeOf(control.cluster(parameters.cluster).current),
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters/{cluster}/time/advance",
    operation: "advanceTime",
    summary: "Advances virtual time: everything that is due happens at its exact time. Answers when it has happened.",
    body: { duration: { type: "duration", required: true, maxMs: ADVANCE_MAX_MS, max: "366d", doc: `Such as "6m" or "1h30m".` } },
    answer: TIME,
    async handle({ control, parameters, body, signal }) {
      const { current, driver } = await virtual(control.cluster(parameters.cluster), "advance time");
      // A client that has disconnected, and a reset, end it.
      const isOver = (): boolean => signal.aborted || current.signal.aborted;
      await driver.advanceUntil(isOver, body.duration);
      if (current.signal.aborted) throw conflict("The cluster was reset or removed while its time advanced", "Advance it again");
      return timeOf(current);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/v1/clusters/{cluster}/time/settle",
    operation: "settle",
    summary: "Runs everything that is due at the current virtual time: controllers, scheduler and kubelets complete their work.",
    answer: TIME,
    async handle({ control, parameters }) {
      const { current, driver } = await virtual(control.cluster(parameters.cluster), "settle");
      await driver.settle();
      return timeOf(current);
    },
  }),
];

async function virtual({ current }: ControlledCluster, what: string): Promise<{ readonly current: Generation; readonly driver: Driver }> {
  const { driver } = current;
  if (driver !== undefined) {
    await current.started();
    return { current, driver };
  }
  throw conflict(`Cannot ${what}: the cluster uses real time`, "Start it with k8ts up --test-control --virtual-time");
}

function timeOf({ clock, driver }: Generation): object {
  return { now: new Date(clock.now()).toISOString(), time: driver === undefined ? "real" : "virtual" };
}
