// JSON as a tree that opens and closes; the browser's own details element does the keyboard.

const openLevels = 2;
const shownMembers = 200;

/** @param {{ value: unknown, name?: string, level?: number }} props */
export function JsonTree({ value, name, level = 0 }) {
  if (value === null || typeof value !== 'object') return <Leaf {...(name !== undefined && { name })} value={value} />;
  const members = Object.entries(value);
  const what = Array.isArray(value) ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) return <Leaf {...(name !== undefined && { name })} value={what} plain />;
  const inner = members.slice(0, shownMembers).map(([key, member]) => <JsonTree key={key} name={key} value={member} level={level + 1} />);
  if (name === undefined) return <div class="tree mono">{inner}</div>;
  return (
    <details open={level <= openLevels && members.length <= 12}>
      <summary>
        <span class="tree-name">{name || '""'}</span> <span class="dim">{what}</span>
      </summary>
      <div class="tree-inner">
        {inner}
        {members.length > shownMembers && <p class="dim">and {members.length - shownMembers} more</p>}
      </div>
    </details>
  );
}

/** Text that holds JSON, as Avro schemas do, stays one line with the whole in its tooltip. @param {{ name?: string, value: unknown, plain?: boolean }} props */
function Leaf({ name, value, plain }) {
  const text = value === null ? 'null' : String(value);
  return (
    <p class="tree-leaf" title={text.length > 40 ? text : undefined}>
      {name !== undefined && (
        <>
          <span class="tree-name">{name}</span>{' '}
        </>
      )}
      <span class={value === null ? 'null' : plain ? 'dim' : ''}>{text}</span>
    </p>
  );
}
