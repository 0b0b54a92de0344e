/** Validation of the three kinds of containers of a Pod: common rules, and those of one kind only. */
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
} from "../../../../generated/core/v1.ts";
import {
  duplicate,
  forbidden,
  invalid,
  notFoundField,
  notSupported,
  required,
  tooMany,
  type FieldError,
} from "../../../../machinery/field-error.ts";
import { dnsLabel, portName, portNumber } from "./checks.ts";
import { isSidecar, type AnyContainer } from "../containers.ts";
import { validateEnv, validateEnvFrom } from "./env.ts";
import { validateMounts, type VolumesByName } from "./mounts.ts";
import { validateProbesAndLifecycle } from "./probes.ts";
import { validateContainerResources } from "./resources.ts";
import { validateSecurityContext } from "./security.ts";
import { validatePullPolicy } from "./volumes.ts";

const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const RESTART_ACTIONS = ["Restart", "RestartAllContainers"];
const EXIT_CODE_OPERATORS = ["In", "NotIn"];
const RESTART_RULES_MAX = 20;
const EXIT_CODES_MAX = 255;

/** What the rules of a container need from its Pod. */
interface Surroundings {
  readonly spec: PodSpec;
  /** The valid volumes. */
  readonly volumes: VolumesByName;
  readonly claimNames: ReadonlySet<string>;
}

export function* validateAllContainers(spec: PodSpec, volumes: VolumesByName, at: string): Iterable<FieldError> {
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name).filter((name) => name !== ""));
  const pod = { spec, volumes, claimNames };
  yield* validateContainers(spec.containers ?? [], pod, `${at}.containers`);
  if (spec.initContainers !== undefined) yield* validateInitContainers(spec.initContainers, pod, `${at}.initContainers`);
  if (spec.ephemeralContainers !== undefined)
    yield* validateEphemeralContainers(spec.ephemeralContainers, pod, `${at}.ephemeralContainers`);
}

function* validateContainers(containers: readonly Container[], pod: Surroundings, at: string): Iterable<FieldError> {
  if (containers.length === 0) return yield required(at);
  const seenNames = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    yield* validateContainer(container, pod, here);
    if (seenNames.has(container.name)) yield duplicate(`${here}.name`, container.name);
    seenNames.add(container.name);
    yield* validateProbesAndLifecycle(container, gracePeriodOf(pod.spec), here);
    yield* validateRestartRules(container, here);
  }
  const seenHostPorts = new Set<string>();
  for (const [index, { ports }] of containers.entries()) yield* validateHostPorts(ports ?? [], seenHostPorts, `${at}[${index}].ports`);
}

function gracePeriodOf(spec: PodSpec): number {
  return spec.terminationGracePeriodSeconds ?? Infinity;
}

function* validateInitContainers(containers: readonly Container[], pod: Surroundings, at: string): Iterable<FieldError> {
  const seenNames = new Set((pod.spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    yield* validateContainer(container, pod, here);
    yield* validateInitRestartRules(container, here);
    if (seenNames.has(container.name)) yield duplicate(`${here}.name`, container.name);
    else if (container.name) seenNames.add(container.name);
    // Init containers run in sequence and may use the same port. Upstream reports all of them with index 0.
    yield* validateHostPorts(container.ports ?? [], new Set(), `${at}[0].ports`);
    if (isSidecar(container)) yield* validateProbesAndLifecycle(container, gracePeriodOf(pod.spec), here);
    else yield* validateRunsToItsEnd(container, here);
  }
}

/** An init container that is no sidecar has no probes. */
function* validateRunsToItsEnd(container: Container, at: string): Iterable<FieldError> {
  for (const name of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
    if (container[name] !== undefined) yield forbidden(`${at}.${name}`, "may not be set for init containers without restartPolicy=Always");
  }
  for (const [index, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
    if (restartPolicy !== "RestartContainer") continue;
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    yield invalid(`${at}.resizePolicy[${index}].restartPolicy`, restartPolicy, why);
  }
}

/** Ephemeral containers are added to a running Pod: no resources can be reserved for them, and nothing waits for them. */
const NOT_OF_EPHEMERAL = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
] as const;

function* validateEphemeralContainers(containers: readonly EphemeralContainer[], pod: Surroundings, at: string): Iterable<FieldError> {
  const otherNames = new Set([...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ name }) => name));
  const allNames = new Set(otherNames);
  for (const [index, container] of containers.entries()) {
    const here = `${at}[${index}]`;
    yield* validateContainer(container, pod, here);
    yield* validateImageSpaces(container, here);
    if (allNames.has(container.name)) yield duplicate(`${here}.name`, container.name);
    allNames.add(container.name);
    const { targetContainerName } = container;
    if (targetContainerName && !otherNames.has(targetContainerName))
      yield notFoundField(`${here}.targetContainerName`, targetContainerName);
    yield* validateEphemeralFields(container, here);
  }
}

function* validateEphemeralFields(container: EphemeralContainer, at: string): Iterable<FieldError> {
  const why = "cannot be set for an Ephemeral Container";
  for (const name of NOT_OF_EPHEMERAL) if (isGiven(name, container[name])) yield forbidden(`${at}.${name}`, why);
  for (const [index, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
    if (subPath) yield forbidden(`${at}.volumeMounts[${index}].subPath`, why);
    if (subPathExpr) yield forbidden(`${at}.volumeMounts[${index}].subPathExpr`, why);
  }
}

/** `resources: {}` is in every container and means nothing; any other empty object was set by the client. */
function isGiven(name: string, value: object | string | undefined): boolean {
  if (value === undefined) return false;
  return name === "resources" || Array.isArray(value) ? Object.keys(value).length > 0 : true;
}

/** Rules of all containers. */
function* validateContainer(container: AnyContainer, pod: Surroundings, at: string): Iterable<FieldError> {
  const { name, image, terminationMessagePolicy, ports, env, envFrom, resources, resizePolicy, securityContext } = container;
  if (!name) yield required(`${at}.name`);
  else yield* dnsLabel(name, `${at}.name`);
  if (!image) yield required(`${at}.image`);
  if (!terminationMessagePolicy) yield required(`${at}.terminationMessagePolicy`);
  else if (!MESSAGE_POLICIES.includes(terminationMessagePolicy)) {
    yield notSupported(`${at}.terminationMessagePolicy`, terminationMessagePolicy, MESSAGE_POLICIES);
  }
  if (ports !== undefined) yield* validatePorts(ports, `${at}.ports`);
  if (env !== undefined) yield* validateEnv(env, `${at}.env`);
  if (envFrom !== undefined) yield* validateEnvFrom(envFrom, `${at}.envFrom`);
  if (container.volumeMounts !== undefined || container.volumeDevices !== undefined) yield* validateMounts(container, pod.volumes, at);
  yield* validatePullPolicy(container.imagePullPolicy, `${at}.imagePullPolicy`);
  if (resources !== undefined) yield* validateContainerResources(resources, pod.claimNames, `${at}.resources`);
  if (resizePolicy !== undefined) yield* validateResizePolicy(resizePolicy, pod.spec.restartPolicy, `${at}.resizePolicy`);
  if (securityContext !== undefined) {
    yield* validateSecurityContext(securityContext, `${at}.securityContext`, { hostUsers: pod.spec.hostUsers !== false });
  }
}

function* validatePorts(ports: readonly ContainerPort[], at: string): Iterable<FieldError> {
  const seenNames = new Set<string>();
  for (const [index, { name, containerPort, hostPort, protocol }] of ports.entries()) {
    const here = `${at}[${index}]`;
    if (name) {
      const problems = portName(name, `${here}.name`);
      if (problems.length > 0) yield* problems;
      else if (seenNames.has(name)) yield duplicate(`${here}.name`, name);
      else seenNames.add(name);
    }
    if (!containerPort) yield required(`${here}.containerPort`);
    else yield* portNumber(containerPort, `${here}.containerPort`);
    if (hostPort) yield* portNumber(hostPort, `${here}.hostPort`);
    if (!protocol) yield required(`${here}.protocol`);
    else if (!PROTOCOLS.includes(protocol)) yield notSupported(`${here}.protocol`, protocol, PROTOCOLS);
  }
}

function* validateHostPorts(ports: readonly ContainerPort[], seen: Set<string>, at: string): Iterable<FieldError> {
  for (const [index, { hostPort, hostIP, protocol }] of ports.entries()) {
    if (!hostPort) continue;
    const key = `${protocol ?? ""}/${hostIP ?? ""}/${hostPort}`;
    if (seen.has(key)) yield duplicate(`${at}[${index}].hostPort`, key);
    seen.add(key);
  }
}

const RESIZED_RESOURCES = ["cpu", "memory"];
const RESIZE_POLICIES = ["NotRequired", "RestartContainer"];

function* validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podPolicy: string | undefined,
  at: string,
): Iterable<FieldError> {
  const seen = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (seen.has(resourceName)) yield duplicate(`${at}[${index}]`, resourceName);
    seen.add(resourceName);
    if (resourceName === "") yield required(at);
    else if (!RESIZED_RESOURCES.includes(resourceName)) yield notSupported(at, resourceName, RESIZED_RESOURCES);
    if (restartPolicy === "") yield required(at);
    else if (!RESIZE_POLICIES.includes(restartPolicy)) yield notSupported(at, restartPolicy, RESIZE_POLICIES);
    if (podPolicy === "Never" && restartPolicy !== "NotRequired") {
      yield invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

/** Per-container restart policy and rules. */
function* validateRestartRules({ restartPolicy, restartPolicyRules: rules = [] }: Container, at: string): Iterable<FieldError> {
  if (restartPolicy === undefined && rules.length === 0) return;
  if (restartPolicy === undefined) yield required(`${at}.restartPolicy`, "must specify restartPolicy when restart rules are used");
  else if (!RESTART_POLICIES.includes(restartPolicy)) yield notSupported(`${at}.restartPolicy`, restartPolicy, RESTART_POLICIES);
  if (rules.length > RESTART_RULES_MAX) yield tooMany(`${at}.restartPolicyRules`, rules.length, RESTART_RULES_MAX);
  for (const [index, rule] of rules.entries()) yield* validateRestartRule(rule, `${at}.restartPolicyRules[${index}]`);
}

/** For restart rules of an init container without a policy upstream reports no more than that. */
function* validateInitRestartRules(container: Container, at: string): Iterable<FieldError> {
  const [first, ...rest] = validateRestartRules(container, at);
  if (first !== undefined) yield first;
  if (container.restartPolicy !== undefined) yield* rest;
}

function* validateRestartRule({ action, exitCodes }: ContainerRestartRule, at: string): Iterable<FieldError> {
  if (!RESTART_ACTIONS.includes(action)) yield notSupported(`${at}.action`, action ?? "", RESTART_ACTIONS);
  if (exitCodes === undefined) return yield required(`${at}.exitCodes`, "must be specified");
  const { operator, values = [] } = exitCodes;
  if (!EXIT_CODE_OPERATORS.includes(operator)) yield notSupported(`${at}.exitCodes.operator`, operator ?? "", EXIT_CODE_OPERATORS);
  if (values.length > EXIT_CODES_MAX) yield tooMany(`${at}.exitCodes.values`, values.length, EXIT_CODES_MAX);
}

/** Only for Pods: templates with such images exist, and fail when their Pods are created. */
export function* validateImageSpaces({ image = "" }: AnyContainer, at: string): Iterable<FieldError> {
  if (image.trim() !== image) yield invalid(`${at}.image`, image, "must not have leading or trailing whitespace");
}
