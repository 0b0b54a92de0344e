/**
 * The iSCSI initiator of this machine: open-iscsi's `iscsiadm`, and the kernel's view of sessions and devices in /sys. Only kernels with the
 * module iscsi_tcp have sessions. Not here: which commands a volume needs (volumes/iscsi).
 */
import type { Clock } from "../../../base/clock.ts";
import { joinPath, namesIn, readTextIfAny } from "../../../host/files/files.ts";
import { fileKind, realPathOf } from "../../../host/files/shared-directory.ts";
import { writeControlFile } from "../../../host/kernel/control-files.ts";
import { startProgram } from "../../../host/processes/child-process.ts";
import { findProgram } from "../../../host/processes/find-program.ts";
import type { CommandResult, IscsiDevice, IscsiInitiator } from "../../volumes/framework/iscsi-initiator.ts";
import { VolumeError } from "../../volumes/framework/volume-error.ts";
import { KeyedTurns } from "./keyed-turns.ts";

/** Upstream's wait for a device after a login. */
const DEVICE_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

export interface IscsiInitiatorOptions {
  readonly clock: Clock;
  /** Default: "/sys". */
  readonly sysDirectory?: string;
  /** Default: "/dev/disk/by-path". */
  readonly devicesDirectory?: string;
  /** Default: found in the directories of programs; undefined if it is not installed. */
  readonly program?: () => string | undefined;
}

interface Session {
  readonly host: number;
  /** In /sys. */
  readonly path: string;
}

export class MachineIscsiInitiator implements IscsiInitiator {
  readonly #clock: Clock;
  readonly #sys: string;
  readonly #devices: string;
  readonly #program: () => string | undefined;
  readonly #turns = new KeyedTurns();

  constructor({ clock, sysDirectory = "/sys", devicesDirectory = "/dev/disk/by-path", program }: IscsiInitiatorOptions) {
    this.#clock = clock;
    this.#sys = sysDirectory;
    this.#devices = devicesDirectory;
    this.#program = program ?? (() => findProgram("iscsiadm", undefined));
  }

  isInstalled(): boolean {
    return this.#program() !== undefined;
  }

  async iscsiadm(words: readonly string[]): Promise<CommandResult> {
    const command = this.#program();
    if (command === undefined)
      throw new VolumeError('exec: "iscsiadm": executable file not found in $PATH; install it on the node (Debian: open-iscsi)');
    return run(command, words);
  }

  async sessions(iqn: string): Promise<ReadonlyMap<string, number>> {
    const portals = new Map<string, number>();
    for (const { host, path } of await this.#sessionsOf(iqn)) {
      for (const connection of (await namesIn(path)).filter((name) => name.startsWith("connection"))) {
        const values = joinPath(path, connection, "iscsi_connection", connection);
        for (const kind of ["", "persistent_"]) {
          const address = await valueOf(joinPath(values, `${kind}address`));
          const port = await valueOf(joinPath(values, `${kind}port`));
          if (address !== "" && port !== "") portals.set(`${address.includes(":") ? `[${address}]` : address}:${port}`, host);
        }
      }
    }
    return portals;
  }

  async scan(host: number, lun: number): Promise<void> {
    // Channel and target are always 0 for iSCSI.
    await writeControlFile(joinPath(this.#sys, `class/scsi_host/host${host}/scan`), `0 0 ${lun}`);
  }

  async device(wanted: IscsiDevice): Promise<string | undefined> {
    for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
      const name = (await this.#clock.external(namesIn(this.#devices))).find((candidate) => isDevice(candidate, wanted));
      if (name !== undefined) return joinPath(this.#devices, name);
      if (waitedMs >= DEVICE_WITHIN_MS) return undefined;
      await this.#clock.sleep(LOOK_EVERY_MS);
    }
  }

  async multipath(device: string): Promise<string | undefined> {
    const real = await realPathOf(device);
    const name = real.slice(real.lastIndexOf("/") + 1);
    const maps = (await namesIn(joinPath(this.#sys, "block"))).filter((entry) => entry.startsWith("dm-"));
    for (const map of maps) if ((await namesIn(joinPath(this.#sys, "block", map, "slaves"))).includes(name)) return `/dev/${map}`;
    return undefined;
  }

  async removeDevices(iqn: string, lun: number): Promise<void> {
    const names: string[] = [];
    for (const { host, path } of await this.#sessionsOf(iqn))
      names.push(...(await namesIn(joinPath(path, `target${host}:0:0`, `${host}:0:0:${lun}`, "block"))));
    const multipath = findProgram("multipath", undefined);
    for (const map of new Set(await Promise.all(names.map((name) => this.multipath(`/dev/${name}`)))))
      if (map !== undefined && multipath !== undefined) await run(multipath, ["-f", map]);
    for (const name of names) {
      const file = joinPath(this.#sys, "block", name, "device/delete");
      if ((await fileKind(file)) !== undefined) await writeControlFile(file, "1");
    }
  }

  inTurn<T>(iqn: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(iqn, work);
  }

  async #sessionsOf(iqn: string): Promise<readonly Session[]> {
    const found: Session[] = [];
    const hosts = joinPath(this.#sys, "class/iscsi_host");
    for (const name of await namesIn(hosts)) {
      const [, number] = /^host(\d+)$/.exec(name) ?? [];
      if (number === undefined) continue;
      const device = joinPath(hosts, name, "device");
      for (const session of (await namesIn(device)).filter((entry) => entry.startsWith("session"))) {
        const path = joinPath(device, session);
        if ((await valueOf(joinPath(path, "iscsi_session", session, "targetname"))) === iqn) found.push({ host: Number(number), path });
      }
    }
    return found;
  }
}

/** Links in the directory have addresses without brackets; those of hardware begin with a PCI address. */
function isDevice(name: string, { portal, iqn, lun, transport }: IscsiDevice): boolean {
  const suffix = `ip-${portal.replaceAll(/[[\]]/g, "")}-iscsi-${iqn}-lun-${lun}`;
  return transport === "tcp" ? name === suffix : name.startsWith("pci-") && name.endsWith(`-${suffix}`);
}

async function run(command: string, words: readonly string[]): Promise<CommandResult> {
  const program = await startProgram({ command, arguments: words });
  const { code } = await program.exited;
  return { code: code ?? undefined, output: program.output.join("\n") };
}

async function valueOf(path: string): Promise<string> {
  return (await readTextIfAny(path)).trim();
}
