/* Vite makes such an import the script of a worker, inside the page. */
declare module "*?worker&inline" {
  const PlayWorker: new () => Worker;
  export default PlayWorker;
}
