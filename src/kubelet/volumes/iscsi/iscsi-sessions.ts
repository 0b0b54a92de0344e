/**
 * Sessions of the node's initiator to iSCSI targets: discovery, CHAP, login and logout by `iscsiadm`, with upstream's commands. Volumes of a
 * target share a session, so all work on a target is serialised; the last one logs out.
 */
import type { IscsiInitiator } from "../framework/iscsi-initiator.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { IscsiDisk, ResolvedDisk } from "./iscsi-disk.ts";

/** Exit codes of iscsiadm: the session exists; session not found; no object found. */
const EXISTS = 15;
const NOT_THERE: readonly (number | undefined)[] = [2, 21];

/** Upstream's attempts: with two paths it waits for the others once more, with one path longer. */
const ATTEMPTS_MIN = 2;
const ATTEMPTS_MAX = 5;
const PATHS_MIN = 2;

const DISCOVERY_KEYS = ["username", "password", "username_in", "password_in"].map((key) => `discovery.sendtargets.auth.${key}`);
const SESSION_KEYS = ["username", "password", "username_in", "password_in"].map((key) => `node.session.auth.${key}`);

/** Logs in at all portals and returns the device: a multipath device if there is one. */
export async function attachDisk(resolved: ResolvedDisk, initiator: IscsiInitiator): Promise<string> {
  const { disk } = resolved;
  const transport = await transportOf(disk.initIface, initiator);
  if (disk.initiatorName !== "") await cloneIface(disk, initiator);
  return initiator.inTurn(disk.iqn, async () => {
    const devices = new Map<string, string>();
    const failures: string[] = [];
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      for (const portal of disk.portals) {
        if (devices.has(portal)) continue;
        const found = await attachPath(resolved, portal, transport, initiator);
        if ("device" in found) devices.set(portal, found.device);
        else failures.push(found.problem);
      }
      if (devices.size === 0) break;
      if (devices.size === disk.portals.length || (devices.size >= PATHS_MIN && attempt >= ATTEMPTS_MIN)) break;
    }
    const [first] = devices.values();
    if (first === undefined) {
      if (disk.initiatorName !== "") await initiator.iscsiadm(["-m", "iface", "-I", disk.iface, "-o", "delete"]);
      throw new VolumeError(`failed to get any path for iscsi disk, last err seen:\n${failures.at(-1) ?? ""}`);
    }
    return (await initiator.multipath(first)) ?? first;
  });
}

type Path = { readonly device: string } | { readonly problem: string };

async function attachPath(resolved: ResolvedDisk, portal: string, transport: string, initiator: IscsiInitiator): Promise<Path> {
  const { iqn, lun } = resolved.disk;
  if (!(await initiator.sessions(iqn)).has(portal)) {
    const problem = await logIn(resolved, portal, initiator);
    if (problem !== undefined) return { problem };
  }
  const host = (await initiator.sessions(iqn)).get(portal);
  if (host === undefined) return { problem: `Could not get SCSI host number for portal ${portal} after logging in` };
  await initiator.scan(host, lun);
  const device = await initiator.device({ portal, iqn, lun, transport });
  return device === undefined ? { problem: `Timed out waiting for the device of ${iqn} lun ${lun} at portal ${portal}` } : { device };
}

/** Returns the problem, if any. */
async function logIn(resolved: ResolvedDisk, portal: string, initiator: IscsiInitiator): Promise<string | undefined> {
  const { disk, usesDiscoveryChap, usesSessionChap, secret } = resolved;
  const { iqn, iface } = disk;
  const discovery = ["-m", "discoverydb", "-t", "sendtargets", "-p", portal, "-I", iface];
  const node = ["-m", "node", "-p", portal, "-T", iqn, "-I", iface];
  await initiator.iscsiadm([...discovery, "-o", "new"]);
  if (usesDiscoveryChap) {
    const problem = await setChap(discovery, "discovery.sendtargets.auth.authmethod", DISCOVERY_KEYS, secret, initiator);
    if (problem !== undefined) return `iscsi: failed to update discoverydb to portal ${portal} error: ${problem}`;
  }
  const discovered = await initiator.iscsiadm([...discovery, "--discover"]);
  if (discovered.code !== 0) {
    await initiator.iscsiadm([...discovery, "-o", "delete"]);
    return `iscsi: failed to sendtargets to portal ${portal} output: ${discovered.output}`;
  }
  // Older versions do not know it; the kernel then discovers all units of the target.
  await initiator.iscsiadm([...node, "-o", "update", "-n", "node.session.scan", "-v", "manual"]);
  if (usesSessionChap) {
    const problem = await setChap(node, "node.session.auth.authmethod", SESSION_KEYS, secret, initiator);
    if (problem !== undefined) return `iscsi: failed to update iscsi node to portal ${portal} error: ${problem}`;
  }
  const login = await initiator.iscsiadm([...node, "--login"]);
  if (login.code !== 0 && login.code !== EXISTS) {
    await initiator.iscsiadm([...node, "-o", "delete"]);
    return `iscsi: failed to attach disk: Error: ${login.output}`;
  }
  // A node that boots must not wait for the target.
  await initiator.iscsiadm(["-m", "node", "-p", portal, "-T", iqn, "-o", "update", "-n", "node.startup", "-v", "manual"]);
  return undefined;
}

/** Returns the problem, without the secret. */
async function setChap(
  record: readonly string[],
  method: string,
  keys: readonly string[],
  secret: Readonly<Record<string, string>>,
  initiator: IscsiInitiator,
): Promise<string | undefined> {
  const settings = [[method, "CHAP"] as const, ...keys.map((key) => [key, secret[key] ?? ""] as const)];
  for (const [key, value] of settings) {
    if (value === "") continue;
    const { code } = await initiator.iscsiadm([...record, "-o", "update", "-n", key, "-v", value]);
    if (code !== 0) return `iscsi: failed to update key "${key}"`;
  }
  return undefined;
}

/** Removes the devices, and logs out if `isLast`: no other volume of the node uses the target at the first portal. */
export async function detachDisk(disk: IscsiDisk, isLast: () => Promise<boolean>, initiator: IscsiInitiator): Promise<void> {
  const { iqn, iface, lun, portals, volumeName, initiatorName } = disk;
  await initiator.removeDevices(iqn, lun);
  await initiator.inTurn(iqn, async () => {
    if (!(await isLast())) return;
    // No session was opened: the Pod must not wait for a program that it no longer needs.
    if (!initiator.isInstalled() && (await initiator.sessions(iqn)).size === 0) return;
    for (const portal of portals) {
      const node = ["-m", "node", "-p", portal, "-T", iqn];
      await ended([...node, "--logout", "-I", iface], initiator);
      await ended([...node, "-o", "delete", "-I", iface], initiator);
    }
    const isOurs = initiatorName !== "" && iface === `${portals[0] ?? ""}:${volumeName}`;
    if (isOurs) await ended(["-m", "iface", "-I", iface, "-o", "delete"], initiator);
  });
}

/** What is gone already is no failure. */
async function ended(words: readonly string[], initiator: IscsiInitiator): Promise<void> {
  const { code, output } = await initiator.iscsiadm(words);
  if (code !== 0 && !NOT_THERE.includes(code)) throw new VolumeError(`iscsi: failed to detach disk Error: ${output}`);
}

async function transportOf(iface: string, initiator: IscsiInitiator): Promise<string> {
  const { code, output } = await initiator.iscsiadm(["-m", "iface", "-I", iface, "-o", "show"]);
  if (code !== 0) throw new VolumeError(`iscsi: could not read iface ${iface} error: ${output}`);
  const transport = /^iface\.transport_name = (.*)$/m.exec(output)?.[1] ?? "";
  if (transport === "") throw new VolumeError(`could not parse iface file for ${iface}`);
  return transport === "<empty>" ? "tcp" : transport;
}

/** A copy of the configured interface with the initiator's name of the volume. */
async function cloneIface({ iface, initIface, initiatorName }: IscsiDisk, initiator: IscsiInitiator): Promise<void> {
  if (iface === initIface) throw new VolumeError(`iscsi: cannot clone iface with same name: ${iface}`);
  const shown = await initiator.iscsiadm(["-m", "iface", "-I", initIface, "-o", "show"]);
  if (shown.code !== 0) throw new VolumeError(`iscsi: failed to show iface records: ${shown.output}`);
  const created = await initiator.iscsiadm(["-m", "iface", "-I", iface, "-o", "new"]);
  if (created.code !== 0 && created.code !== EXISTS) throw new VolumeError(`iscsi: failed to create new iface: ${created.output}`);
  for (const [key, value] of settingsOf(shown.output, initiatorName)) {
    const { code, output } = await initiator.iscsiadm(["-m", "iface", "-I", iface, "-o", "update", "-n", key, "-v", value]);
    if (code === 0) continue;
    await initiator.iscsiadm(["-m", "iface", "-I", iface, "-o", "delete"]);
    throw new VolumeError(`iscsi: failed to update iface records: ${output}`);
  }
}

/** Sorted, so that commands are the same each time. The name of an interface never changes. */
function settingsOf(shown: string, initiatorName: string): readonly (readonly [string, string])[] {
  const settings = new Map<string, string>();
  for (const [, key = "", value = ""] of shown.matchAll(/^(iface\.\S+) = (\S+)$/gm))
    if (value !== "<empty>" && key !== "iface.iscsi_ifacename") settings.set(key, value);
  settings.set("iface.initiatorname", initiatorName);
  return [...settings].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
