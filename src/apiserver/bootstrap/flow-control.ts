/**
 * The FlowSchemas and PriorityLevelConfigurations of every cluster. Mandatory ones are always reset to our spec; suggested ones are updated
 * only while their auto-update annotation says so.
 */
import { deepEqual } from "../../base/deep.ts";
import {
  AUTO_UPDATE_ANNOTATION,
  builtInFlowSchemas,
  builtInPriorityLevels,
  type BuiltIn,
} from "../../api/flowcontrol.apiserver.k8s.io/v1/built-in.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { BootstrapContext, BootstrapStep } from "./bootstrap.ts";
import type { Place } from "../framework/own-requests.ts";

const PLACE = { group: "flowcontrol.apiserver.k8s.io", version: "v1", namespace: "" };
const LEVELS = { ...PLACE, plural: "prioritylevelconfigurations" };
const SCHEMAS = { ...PLACE, plural: "flowschemas" };

export const flowControl: BootstrapStep = {
  hook: "priority-and-fairness-config-producer",
  async make(context) {
    for (const builtIn of builtInPriorityLevels) await keep(context, LEVELS, builtIn);
    for (const builtIn of builtInFlowSchemas) await keep(context, SCHEMAS, builtIn);
  },
  keeps: [
    ...builtInPriorityLevels.map(({ object }) => ({ ...LEVELS, name: object.metadata.name, always: true as const })),
    ...builtInFlowSchemas.map(({ object }) => ({ ...SCHEMAS, name: object.metadata.name, always: true as const })),
  ],
};

type WithSpec = KubeObject & { readonly spec?: unknown };

async function keep({ requests }: BootstrapContext, place: Place, { object, mandatory }: BuiltIn<KubeObject>): Promise<void> {
  const wanted = object as WithSpec;
  const found = (await requests.make(place, wanted)).object as WithSpec;
  const follows = mandatory || found.metadata.annotations?.[AUTO_UPDATE_ANNOTATION] === "true";
  if (!follows || deepEqual(found.spec, wanted.spec)) return;
  await requests.put(place, { ...found, spec: wanted.spec } as KubeObject);
}
