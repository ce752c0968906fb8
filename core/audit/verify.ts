/** Recomputes a chain against its anchor, its head and its signed checkpoints, and names the first row that does not fit. */
import { type Anchor, readAnchor } from './anchors.ts';
import type { ChainHead, SealedRow } from './chain.ts';
import { faultPlace, type Head, isOurHead, readHead } from './heads.ts';
import { CHECKPOINT_COLUMNS, type Checkpoint, isGenuine, newestCheckpoint } from './proofs/checkpoints.ts';
import { Frontier, leafHash, rootWith, subtreesFrom } from './proofs/merkle.ts';
import { type SigningKey, signingKeys } from './proofs/signing-keys.ts';
import { Tree, TreeDamaged } from './proofs/tiles.ts';
import type { Trail } from './trail.ts';
import { pagesOf, problemOf, type RowProblem, stretchOf, type Times, tenantFilter } from './walk.ts';

/** What can be wrong; the README of this folder says what each means. */
export const PROBLEMS = [
  'altered',
  'missing before',
  'not chained',
  'rewritten',
  'added',
  'misplaced',
  'cut off',
  'head forged',
  'anchor forged',
  'checkpoint forged',
  'tree damaged',
  'chain missing',
] as const;
export type Problem = RowProblem | (typeof PROBLEMS)[number];

export interface Verdict {
  owner: string;
  /** Rows recomputed. */
  checked: number;
  /** Signed checkpoints that the rows were held against. */
  checkpoints: number;
  ok: boolean;
  /** `id` is empty where there is no row to name. */
  firstBad: { id: string; seq: number; problem: Problem } | null;
  /** The checkpoint that the rows no longer fit. */
  brokenCheckpoint: { id: string; size: number } | null;
}

class Fault extends Error {
  readonly row: { id: string; seq: number };
  readonly problem: Problem;
  readonly checkpoint: Checkpoint | null;

  constructor(problem: Problem, row: { id?: string; seq: number }, checkpoint: Checkpoint | null = null) {
    super(problem);
    this.row = { id: row.id ?? '', seq: row.seq };
    this.problem = problem;
    this.checkpoint = checkpoint;
  }
}

/**
 * Walks one owner's chain: all of it, or the rows between two times with a neighbour on each side. What is sealed or
 * pruned meanwhile does no harm. The trail's store must work in the platform's role.
 */
export async function verifyChain(trail: Trail, owner: string, times: Times = {}): Promise<Verdict> {
  const walk = new Walk(trail, owner);
  const verdict = { owner, checked: 0, checkpoints: 0, ok: true, firstBad: null, brokenCheckpoint: null };
  const counted = () => ({ ...verdict, checked: walk.checked, checkpoints: walk.checkpoints });
  try {
    await walk.run(times);
    return counted();
  } catch (error) {
    if (error instanceof TreeDamaged) {
      return { ...counted(), ok: false, firstBad: { id: '', seq: walk.place.seq, problem: 'tree damaged' } };
    }
    if (!(error instanceof Fault)) throw error;
    const { row, problem, checkpoint } = error;
    const broken = checkpoint && { id: checkpoint.id, size: checkpoint.size };
    return { ...counted(), ok: false, firstBad: { ...row, problem }, brokenCheckpoint: broken };
  }
}

class Walk {
  checked = 0;
  checkpoints = 0;
  /** The last row that fits. */
  place: ChainHead = { seq: 0, checksum: null };
  private readonly trail: Trail;
  private readonly owner: string;
  private readonly tree: Tree;
  /** The tree up to `place`; null where the stored tree does not reach that far. */
  private frontier: Frontier | null = new Frontier();
  /** The first row whose leaf in the stored tree is another one's. */
  private differing: SealedRow | null = null;
  private keys: SigningKey[] = [];
  private stored = 0;

  constructor(trail: Trail, owner: string) {
    this.trail = trail;
    this.owner = owner;
    this.tree = new Tree(trail, owner);
  }

  async run(times: Times): Promise<void> {
    const { trail, owner } = this;
    const head = await readHead(trail, owner);
    this.stored = await this.tree.size();
    this.keys = await signingKeys(trail);
    const anchor = await readAnchor(trail, owner);
    if (!anchor.ours) throw new Fault('anchor forged', { seq: anchor.seq });
    const { before, after } = times.from || times.to ? await stretchOf(trail, owner, times) : ALL;
    await this.begin(anchor, before);
    const last = Math.min(after ?? Number.MAX_SAFE_INTEGER, head?.seq ?? Number.MAX_SAFE_INTEGER);
    await this.rows(last);
    await this.cover(last);
    if (head && !isOurHead(trail, head)) throw new Fault('head forged', this.named(head));
    if (after === null) await this.end(head);
    if (head?.fault) throw new Fault('head forged', { seq: faultPlace(head.fault) });
    if (this.differing) throw new Fault('tree damaged', { seq: this.differing.seq });
    await this.strangers(times);
  }

  /** Where nothing lies before, the chain begins at its anchor; else the row before is taken for the beginning. */
  private async begin(anchor: Anchor, before: number | null): Promise<void> {
    this.place = anchor;
    this.frontier = new Frontier(anchor.seq, anchor.frontier.nodes);
    if (before === null || before <= anchor.seq + 1) return;
    const { rows } = await this.trail.query<{ prev: string | null }>(
      'select prev_checksum as prev from audit_logs where owner = $1 and seq = $2',
      [this.owner, before],
    );
    // Pruned this very moment: the anchor's successor is the beginning then, which the first row will find out.
    if (!rows[0]) return;
    this.place = { seq: before - 1, checksum: rows[0].prev };
    this.frontier = before - 1 <= this.stored ? await this.tree.frontier(before - 1) : null;
  }

  private async rows(last: number): Promise<void> {
    let next = await this.nextCheckpoint();
    for await (const page of pagesOf(this.trail, this.owner, this.place.seq, last)) {
      for (const row of page) {
        await this.row(row);
        while (next && next.size <= row.seq) {
          if (next.size === row.seq && this.frontier) await this.hold(next, this.frontier.root());
          next = await this.nextCheckpoint(next);
        }
      }
    }
  }

  private async row(row: SealedRow): Promise<void> {
    let problem = problemOf(row, this.owner, this.place);
    if (problem === 'missing before') {
      // Retention may have pruned what lay between.
      const anchor = await readAnchor(this.trail, this.owner);
      if (anchor.ours && anchor.seq > this.place.seq) {
        this.place = anchor;
        this.frontier = new Frontier(anchor.seq, anchor.frontier.nodes);
        problem = problemOf(row, this.owner, this.place);
      }
    }
    if (problem) throw new Fault(problem, row);
    this.checked += 1;
    this.place = row;
    const leaf = leafHash(row.checksum);
    this.frontier?.append(leaf);
    if (!this.differing && row.seq <= this.stored && !(await this.tree.leaf(row.seq - 1))?.equals(leaf)) {
      this.differing = row;
    }
  }

  private async nextCheckpoint(after: Checkpoint | null = null): Promise<Checkpoint | null> {
    const { rows } = await this.trail.query<Checkpoint>(
      `select ${CHECKPOINT_COLUMNS} from audit_checkpoints
       where owner = $1 and (size > $2 or (size = $2 and key_id > $3)) order by size, key_id limit 1`,
      [this.owner, after?.size ?? this.place.seq, after?.keyId ?? null],
    );
    return rows[0] ?? null;
  }

  /** Throws unless the checkpoint is one that we signed, over these very rows. */
  private async hold(checkpoint: Checkpoint, root: Buffer): Promise<void> {
    if (!isGenuine(checkpoint, this.keys)) throw new Fault('checkpoint forged', { seq: checkpoint.size }, checkpoint);
    if (!root.equals(checkpoint.rootHash)) {
      throw new Fault('rewritten', this.differing ?? { seq: checkpoint.size }, checkpoint);
    }
    this.checkpoints += 1;
  }

  /** Holds the end of a stretch against the next checkpoint after it, with the stored tree between the two. */
  private async cover(last: number): Promise<void> {
    const { seq } = this.place;
    const next = await newestCheckpoint(this.trail, this.owner, { least: seq + 1, most: this.stored });
    if (!next || seq < Math.min(last, this.stored) || !this.frontier) return;
    const right = await this.tree.hashes(subtreesFrom(seq, next.size));
    await this.hold(next, rootWith(this.frontier, right, next.size));
  }

  /** Throws where rows at the end are gone, others stand there, or there are some that we did not put there. */
  private async end(read: Head | null): Promise<void> {
    const { trail, owner, place } = this;
    // Rows and head are written together: rows without a head mean that the head was removed.
    const head = read ?? (await readHead(trail, owner));
    const signed = await newestCheckpoint(trail, owner);
    if (!head) {
      if (place.seq > 0 || signed) throw new Fault('cut off', { seq: place.seq }, signed);
      if (await this.lacksChain()) throw new Fault('chain missing', { seq: 0 });
      return;
    }
    if (read && place.seq < head.seq) throw new Fault('cut off', { seq: place.seq + 1 });
    if (read && place.checksum !== head.checksum) throw new Fault('rewritten', this.named(head));
    if (signed && signed.size > head.seq && ((await readHead(trail, owner))?.seq ?? 0) < signed.size) {
      throw new Fault('cut off', { seq: head.seq + 1 }, signed);
    }
    const { rows } = await trail.query<{ id: string; seq: number }>(
      `select id, seq from audit_logs where owner = $1
       and seq > (select seq from audit_heads where owner = $1) order by seq limit 1`,
      [owner],
    );
    if (rows[0]) throw new Fault('added', rows[0]);
  }

  /** An organization's first entry says who made it; before it is sealed, it waits in the outbox. */
  private async lacksChain(): Promise<boolean> {
    const { rows } = await this.trail.query(
      `select from organizations o where 'org:' || o.id = $1
         and not exists (select from audit_outbox w where w.org_id = o.id)
         and not exists (select from audit_heads h where h.owner = $1)`,
      [this.owner],
    );
    return rows.length > 0;
  }

  private named(head: ChainHead): { id?: string; seq: number } {
    return this.differing ?? { id: (this.place as Partial<SealedRow>).id ?? '', seq: head.seq };
  }

  /** Throws for a row that readers see among this owner's but that lies in no chain of theirs. */
  private async strangers({ from, to }: Times): Promise<void> {
    const { where, values } = tenantFilter(this.owner);
    const { rows } = await this.trail.query<{ id: string; seq: number }>(
      `select id, seq from audit_logs where ${where} and owner <> $2
       and timestamp >= coalesce($3::timestamptz, '-infinity') and timestamp <= coalesce($4::timestamptz, 'infinity')
       order by timestamp, id limit 1`,
      [...values, this.owner, from ?? null, to ?? null],
    );
    if (rows[0]) throw new Fault('misplaced', rows[0]);
  }
}

const ALL = { before: null, after: null };
