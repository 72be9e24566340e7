import type { Db } from './pool.ts';

type Table = { oid: number; name: string; partitionKey: string | null; options: string | null };

/** Without partitions: they come and go with the months. */
async function readTables(db: Db): Promise<Table[]> {
  const { rows } = await db.query<Table>(
    `SELECT oid::int, relname AS name, pg_get_partkeydef(oid) AS "partitionKey", array_to_string(reloptions, ', ') AS options
     FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
  );
  return rows;
}

async function readLines(db: Db, text: string, oid: number): Promise<string[]> {
  const { rows } = await db.query<{ line: string }>(text, [oid]);
  return rows.map(({ line }) => line);
}

const columns = `
  SELECT concat(quote_ident(attname), ' ', format_type(atttypid, atttypmod),
    CASE WHEN attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(adbin, adrelid)) AS line
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** NOT NULL is shown with its column; PostgreSQL 18 also has it here, as `n`. */
const constraints = `
  SELECT concat('CONSTRAINT ', quote_ident(conname), ' ', pg_get_constraintdef(oid)) AS line
  FROM pg_constraint WHERE conrelid = $1 AND contype <> 'n' ORDER BY position(contype in 'pufc'), conname`;

/** Those that a constraint makes are shown with it. */
const indexes = `
  SELECT regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?public[.]', ' ON ') AS line FROM pg_index
  WHERE indrelid = $1 AND indexrelid NOT IN (SELECT conindid FROM pg_constraint) ORDER BY indexrelid::regclass::text`;

/** What a schema may hold besides tables and indexes; this dump would not show it. */
async function refuseOtherObjects(db: Db): Promise<void> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'p', 'i', 'I')
     UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r')`,
  );
  if (rows.length > 0) {
    const names = rows.map(({ name }) => name).join(', ');
    throw new Error(`the schema dump does not show ${names}: teach src/db/schema-dump.ts to`);
  }
}

/** The schema as statements, read from the catalogs: the same text for the same schema, whatever made it. */
export async function dumpSchema(db: Db): Promise<string> {
  await refuseOtherObjects(db);
  const statements: string[] = [];
  for (const { oid, name, partitionKey, options } of await readTables(db)) {
    const parts = [...(await readLines(db, columns, oid)), ...(await readLines(db, constraints, oid))];
    const partitioning = partitionKey === null ? '' : ` PARTITION BY ${partitionKey}`;
    const storage = options === null ? '' : ` WITH (${options})`;
    statements.push(`CREATE TABLE ${name} (\n  ${parts.join(',\n  ')}\n)${partitioning}${storage};`);
    for (const index of await readLines(db, indexes, oid)) statements.push(`${index};`);
  }
  return `${statements.join('\n\n')}\n`;
}
