/** Pauses and resumes: rollouts of a Deployment, and the work of Jobs and CronJobs. */
import { field } from "../fields.ts";
import { mergePatch, onObject, type Action } from "./action.ts";

const needs: Action["needs"] = (kind, object) => onObject("patch", kind, object);

export const pause: Action = {
  ...{ title: "Pause", kinds: ["deployments.apps"], needs },
  isFor: (object) => field(object, "spec", "paused") !== true,
  async run(context) {
    await mergePatch(context, { spec: { paused: true } });
    return "Paused: changes of the template wait.";
  },
};

export const resume: Action = {
  ...{ title: "Resume", kinds: ["deployments.apps"], needs },
  isFor: (object) => field(object, "spec", "paused") === true,
  async run(context) {
    await mergePatch(context, { spec: { paused: null } });
    return "Resumed.";
  },
};

export const suspend: Action = {
  ...{ title: "Suspend", kinds: ["cronjobs.batch", "jobs.batch"], needs },
  isFor: (object) => field(object, "spec", "suspend") !== true && field(object, "status", "completionTime") === undefined,
  async run(context) {
    await mergePatch(context, { spec: { suspend: true } });
    return "Suspended.";
  },
};

export const unsuspend: Action = {
  ...{ title: "Resume", kinds: ["cronjobs.batch", "jobs.batch"], needs },
  isFor: (object) => field(object, "spec", "suspend") === true,
  async run(context) {
    await mergePatch(context, { spec: { suspend: false } });
    return "Resumed.";
  },
};
