/** The node's iSCSI initiator, as the iscsi plugin needs it: open-iscsi's command and what the kernel shows about sessions. Types only. */
export interface CommandResult {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly output: string;
}

export interface IscsiDevice {
  /** "10.0.0.1:3260" */
  readonly portal: string;
  readonly iqn: string;
  readonly lun: number;
  /** "tcp", or a hardware transport. */
  readonly transport: string;
}

export interface IscsiInitiator {
  /** Whether there is an `iscsiadm`. */
  isInstalled(): boolean;
  /** Runs `iscsiadm`. Rejects with a VolumeError if it is not installed. Its arguments may be secret and are not logged. */
  iscsiadm(words: readonly string[]): Promise<CommandResult>;
  /** Numbers of the SCSI hosts with sessions to a target, by portal. */
  sessions(iqn: string): Promise<ReadonlyMap<string, number>>;
  /** Has the kernel look for one logical unit only, so that it does not discover those of others. */
  scan(host: number, lun: number): Promise<void>;
  /** Path of the device once the kernel has it; undefined if it does not appear in time. */
  device(device: IscsiDevice): Promise<string | undefined>;
  /** The multipath device that a device is a path of; undefined if it is of none. */
  multipath(device: string): Promise<string | undefined>;
  /** Removes the devices of a logical unit, which nothing uses any more, from the kernel. */
  removeDevices(iqn: string, lun: number): Promise<void>;
  /** Serialises work on a target: its volumes share sessions. */
  inTurn<T>(iqn: string, work: () => Promise<T>): Promise<T>;
}
