/**
 * Defaults of a container. The same for all three kinds of containers and for Pods and templates; defaults of Pods only (requests from
 * limits, host ports) are in pod.ts.
 */
import type {
  Container,
  ContainerPort,
  EnvVar,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  ObjectFieldSelector,
  Probe,
} from "../../../../generated/core/v1.ts";
import { changed, changedItems, withChanges } from "../../../../changes.ts";
import { roundedRequirements } from "./resources.ts";
import { defaultPullPolicy } from "../image-tag.ts";

/** Default terminationMessagePath. */
const TERMINATION_MESSAGE_PATH = "/dev/termination-log";

export function defaultContainer(container: Container): Container {
  return withChanges(container, {
    // The empty text counts as absent, as in upstream's types.
    imagePullPolicy: container.imagePullPolicy || defaultPullPolicy(container.image ?? ""),
    terminationMessagePath: container.terminationMessagePath || TERMINATION_MESSAGE_PATH,
    terminationMessagePolicy: container.terminationMessagePolicy || "File",
    ports: changedItems(container.ports, defaultPort),
    env: changedItems(container.env, defaultEnvVar),
    resources: changed(container.resources, roundedRequirements),
    livenessProbe: changed(container.livenessProbe, defaultProbe),
    readinessProbe: changed(container.readinessProbe, defaultProbe),
    startupProbe: changed(container.startupProbe, defaultProbe),
    lifecycle: changed(container.lifecycle, defaultLifecycle),
  });
}

function defaultPort(port: ContainerPort): ContainerPort {
  return port.protocol ? port : withChanges(port, { protocol: "TCP" });
}

function defaultEnvVar(variable: EnvVar): EnvVar {
  const { valueFrom } = variable;
  if (valueFrom === undefined) return variable;
  const { fieldRef, fileKeyRef } = valueFrom;
  return withChanges(variable, {
    valueFrom: withChanges(valueFrom, {
      fieldRef: changed(fieldRef, defaultFieldRef),
      fileKeyRef: changed(fileKeyRef, (reference) => withChanges(reference, { optional: reference.optional ?? false })),
    }),
  });
}

/** The only version whose fields can be referenced. */
export function defaultFieldRef(reference: ObjectFieldSelector): ObjectFieldSelector {
  return reference.apiVersion ? reference : withChanges(reference, { apiVersion: "v1" });
}

function defaultProbe(probe: Probe): Probe {
  const { httpGet, grpc } = probe;
  return withChanges(probe, {
    timeoutSeconds: probe.timeoutSeconds || 1,
    periodSeconds: probe.periodSeconds || 10,
    successThreshold: probe.successThreshold || 1,
    failureThreshold: probe.failureThreshold || 3,
    httpGet: changed(httpGet, defaultHttpGet),
    grpc: grpc === undefined || grpc.service !== undefined ? grpc : withChanges(grpc, { service: "" }),
  });
}

function defaultHttpGet(request: HTTPGetAction): HTTPGetAction {
  if (request.path && request.scheme) return request;
  return withChanges(request, { path: request.path || "/", scheme: request.scheme || "HTTP" });
}

/** A custom stop signal is behind a feature gate that is off upstream: it is dropped. */
function defaultLifecycle(lifecycle: Lifecycle): Lifecycle {
  const { stopSignal: _, ...kept } = lifecycle;
  return withChanges(lifecycle.stopSignal === undefined ? lifecycle : kept, {
    postStart: changed(lifecycle.postStart, defaultHandler),
    preStop: changed(lifecycle.preStop, defaultHandler),
  });
}

function defaultHandler(handler: LifecycleHandler): LifecycleHandler {
  return withChanges(handler, { httpGet: changed(handler.httpGet, defaultHttpGet) });
}
