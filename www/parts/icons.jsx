// The rail's icons: 16 px, one stroke, drawn by hand.

/** @type {Readonly<Record<import('../types.js').ViewName, string>>} */
const paths = {
  data: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 6.5v6',
  files: 'M2.5 2.5h6v11h-6zM8.5 2.5h5v5h-5zM8.5 7.5h5v6h-5z',
  timeline: 'M2 8h12M4.5 5.5v5M8 4v8M11.5 6.5v3',
  schema:
    'M6 2.5H5a1.5 1.5 0 0 0-1.5 1.5v2.5L2 8l1.5 1.5V12A1.5 1.5 0 0 0 5 13.5h1M10 2.5h1A1.5 1.5 0 0 1 12.5 4v2.5L14 8l-1.5 1.5V12a1.5 1.5 0 0 1-1.5 1.5h-1',
  requests: 'M2 4h5M5 8h6M9 12h5',
};

/** @param {{ name: import('../types.js').ViewName }} props */
export const Icon = ({ name }) => (
  <svg
    class="icon"
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    stroke-width="1.3"
    stroke-linejoin="round"
    stroke-linecap="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);
