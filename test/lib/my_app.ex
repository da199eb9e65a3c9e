# Modules of Elixir for test/e2e/test_elixir.py. Nothing of Elixir's own library is needed to run them.
defmodule MyApp.Foo do
  import Kernel, except: [<>: 2]

  def bar(x), do: x
  def valid?(x), do: x
  def valids(x), do: x
  def save!(x), do: x
  def left <> right, do: {left, right}
  def left +++ right, do: {left, right}
  def sigil_q(text, _modifiers), do: text
  def shout(x), do: x
  def whisper(x), do: x
  def hum(x), do: x

  # Calls each function once.
  def run do
    :lists.foreach(&:erlang.apply(MyApp.Foo, &1, [1]), [:bar, :valid?, :valids, :save!, :shout, :whisper, :hum])
    :lists.foreach(&:erlang.apply(MyApp.Foo, &1, [1, 2]), [:<>, :+++, :sigil_q])
    :erlang.apply(MyApp.Foo.Inner, :bar, [1])
    :erlang.apply(:my_app, :erl, [])
  end
end

defmodule MyApp.Foo.Inner do
  def bar(x), do: x
end

defmodule MyApp.Deux do
  def one, do: 1
end

defmodule :my_app do
  def erl, do: :ok
end
