"""Environments for learning and control, in the shape of Gymnasium's and without needing it."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from ._batch import Batch
from ._world import World


class Box:
    """A space of arrays between bounds: what Gymnasium's Box is to its users."""

    def __init__(self, low: Any, high: Any, shape: tuple[int, ...] | None = None):
        shape = np.broadcast(np.asarray(low), np.asarray(high)).shape if shape is None else shape
        self.low = np.broadcast_to(np.asarray(low, float), shape).copy()
        self.high = np.broadcast_to(np.asarray(high, float), shape).copy()
        self.shape, self.dtype = shape, np.dtype(float)
        self._random = np.random.default_rng()

    def seed(self, seed: int | None = None) -> None:
        self._random = np.random.default_rng(seed)

    def sample(self) -> np.ndarray:
        """Uniform between the bounds; standard normal where there are none."""
        bounded = np.isfinite(self.low) & np.isfinite(self.high)
        low, high = np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)
        return np.where(bounded, self._random.uniform(low, high), self._random.normal(size=self.shape))

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        return value.shape == self.shape and bool(np.all((value >= self.low) & (value <= self.high)))

    def __repr__(self) -> str:
        return f"Box({self.low.min() if self.low.size else 0}, {self.high.max() if self.high.size else 0}, {self.shape})"


class Env:
    """An environment: a subclass says how its world is built, acted upon, observed and rewarded.

        class Cartpole(rigor.Env):
            observation_space = rigor.Box(-np.inf, np.inf, (4,))
            action_space = rigor.Box(-1, 1, (1,))
            def build(self, random): ...      # returns a World
            def act(self, action): ...        # motors, forces: before the steps of an action
            def observe(self): ...            # an array
            def reward(self, action): ...
            def terminated(self): ...

    reset() and step() then have Gymnasium's meaning. The same seed and actions give the same bits."""

    observation_space: Box
    action_space: Box
    step_size = 1 / 240  # s
    frame_skip = 4  # steps of the world for each action
    max_steps: int | None = None  # actions after which an episode is truncated
    render_mode: str | None = None
    metadata: dict[str, Any] = {"render_modes": ["html"]}

    world: World
    random: np.random.Generator

    # What a subclass says.

    def build(self, random: np.random.Generator) -> World:
        raise NotImplementedError

    def act(self, action: np.ndarray) -> None:
        """Before the steps of an action. Forces that a body is given last for one step of the world."""

    def observe(self) -> np.ndarray:
        raise NotImplementedError

    def reward(self, action: np.ndarray) -> float:
        return 0.0

    def terminated(self) -> bool:
        return False

    # What Gymnasium's users call.

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """A new episode; with a seed, that one again."""
        if seed is not None or not hasattr(self, "random"):
            self.random = np.random.default_rng(seed)
        self.world = self.build(self.random)
        self.elapsed = 0
        return self.observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """observation, reward, terminated, truncated, info."""
        action = self._begin(action)
        info = self.world.step(self.step_size, self.frame_skip)
        return self._end(action, info)

    def _begin(self, action: Any) -> np.ndarray:
        if not hasattr(self, "world"):
            raise RuntimeError("reset() comes first")
        action = np.asarray(action, dtype=float)
        if action.shape != self.action_space.shape:
            raise ValueError(f"an action has the shape {self.action_space.shape}, not {action.shape}")
        self.act(action)
        return action

    def _end(self, action: np.ndarray, info: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.elapsed += 1
        truncated = self.max_steps is not None and self.elapsed >= self.max_steps
        return (self.observe(), float(self.reward(action)), bool(self.terminated()), truncated,
                {"step_info": info, "time": self.world.time})

    def render(self) -> Any:
        """The viewer's page of the next seconds of this world, for a notebook."""
        from ._viewer import view
        return view(self.world)

    def close(self) -> None:
        if hasattr(self, "world"):
            del self.world


class VectorEnv:
    """Environments of one kind side by side, their worlds stepped by several threads with the same bits as one
    by one. Episodes that end begin anew at once; the last observation is then in info["final_observation"]."""

    def __init__(self, make: Callable[[], Env], count: int, threads: int = 1):
        self.envs: list[Env] = [make() for _ in range(count)]
        self.num_envs, self.threads = count, threads
        first = self.envs[0]
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space

    def reset(self, *, seed: int | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Environment i begins with seed + i."""
        found = [env.reset(seed=None if seed is None else seed + index)[0] for index, env in enumerate(self.envs)]
        self._batch = Batch((env.world for env in self.envs), self.threads)
        return np.stack(found), {}

    def step(self, actions: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """As Env.step, for all of them: arrays with one row each."""
        if len(actions) != self.num_envs:
            raise ValueError(f"{self.num_envs} actions are needed, not {len(actions)}")
        first = self.envs[0]
        taken = [env._begin(action) for env, action in zip(self.envs, actions)]
        for index, env in enumerate(self.envs):  # a new episode has a new world
            if self._batch._worlds[index] is not env.world:
                self._batch.replace(index, env.world)
        infos = self._batch.step(first.step_size, first.frame_skip)
        results = [env._end(action, info) for env, action, info in zip(self.envs, taken, infos)]
        observations = [result[0] for result in results]
        final: list[np.ndarray | None] = [None] * self.num_envs
        for index, (_, _, terminated, truncated, _) in enumerate(results):
            if terminated or truncated:
                final[index] = observations[index]
                observations[index] = self.envs[index].reset()[0]
        info = {"final_observation": final, "step_info": infos}
        columns = [np.array([result[column] for result in results]) for column in (1, 2, 3)]
        return np.stack(observations), *columns, info

    def close(self) -> None:
        if hasattr(self, "_batch"):
            del self._batch
        for env in self.envs:
            env.close()
