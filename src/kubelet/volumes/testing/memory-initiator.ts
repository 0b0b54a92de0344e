/** An iSCSI initiator in memory: commands are recorded, sessions and devices exist as commands say, and a command can be made to fail. */
import type { CommandResult, IscsiDevice, IscsiInitiator } from "../framework/iscsi-initiator.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { MemoryMounter } from "./memory-mounter.ts";

const DEVICE_BYTES = 2 ** 30;

export class MemoryInitiator implements IscsiInitiator {
  /** All commands, as one types them. */
  readonly commands: string[] = [];
  /** "portal iqn" of each session. */
  readonly loggedIn = new Set<string>();
  /** What a command that contains the key ends with. */
  readonly failures = new Map<string, CommandResult>();
  hasProgram = true;
  /** What `iscsiadm -m iface -o show` prints. */
  iface = "iface.iscsi_ifacename = default\niface.transport_name = tcp\niface.ipaddress = <empty>\niface.mtu = 1500";
  multipathDevice: string | undefined;
  readonly #mounter: MemoryMounter;

  constructor(mounter: MemoryMounter) {
    this.#mounter = mounter;
  }

  isInstalled(): boolean {
    return this.hasProgram;
  }

  async iscsiadm(words: readonly string[]): Promise<CommandResult> {
    if (!this.hasProgram) throw new VolumeError('exec: "iscsiadm": executable file not found in $PATH');
    const command = words.join(" ");
    this.commands.push(command);
    const failure = [...this.failures].find(([part]) => command.includes(part))?.[1];
    if (failure !== undefined) return failure;
    const session = `${after(words, "-p")} ${after(words, "-T")}`;
    if (words.includes("--login")) this.loggedIn.add(session);
    if (words.includes("--logout") && !this.loggedIn.delete(session)) return { code: 21, output: "No records found" };
    return { code: 0, output: words.includes("show") ? this.iface : "" };
  }

  async sessions(iqn: string): Promise<ReadonlyMap<string, number>> {
    const portals = [...this.loggedIn].map((session) => session.split(" ")).filter(([, target]) => target === iqn);
    return new Map(portals.map(([portal = ""], index) => [portal, index]));
  }

  async scan(host: number, lun: number): Promise<void> {
    this.commands.push(`scan host ${host} lun ${lun}`);
  }

  async device({ portal, iqn, lun }: IscsiDevice): Promise<string | undefined> {
    const path = `/dev/disk/by-path/ip-${portal}-iscsi-${iqn}-lun-${lun}`;
    if (!this.#mounter.devices.has(path)) this.#mounter.addDevice(path, DEVICE_BYTES);
    return path;
  }

  async multipath(): Promise<string | undefined> {
    const device = this.multipathDevice;
    if (device !== undefined && !this.#mounter.devices.has(device)) this.#mounter.addDevice(device, DEVICE_BYTES);
    return device;
  }

  async removeDevices(iqn: string, lun: number): Promise<void> {
    this.commands.push(`remove devices ${iqn} lun ${lun}`);
  }

  inTurn<T>(_iqn: string, work: () => Promise<T>): Promise<T> {
    return work();
  }
}

function after(words: readonly string[], flag: string): string {
  return words[words.indexOf(flag) + 1] ?? "";
}
